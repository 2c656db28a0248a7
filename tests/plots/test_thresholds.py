"""The box plots, read back from the axes."""

import numpy as np
import pytest
from matplotlib.patches import PathPatch

from suite.plots.threshold_boxplots import draw

from .tables import make_tables


@pytest.fixture
def panels():
    return draw(make_tables()).axes


def points(panel, algorithm):
    """The line that has a point per seed."""
    lines = [line for line in panel.lines if line.get_label() == algorithm]
    return next(line for line in lines if line.get_linestyle() == "None")


def boxes(panel):
    """Row and quartiles of each box."""
    return {
        round(np.mean(patch.get_path().vertices[:4, 1])): (
            patch.get_path().vertices[:, 0].min(),
            patch.get_path().vertices[:, 0].max(),
        )
        for patch in panel.patches
        if isinstance(patch, PathPatch)
    }


def texts(panel):
    return {round(text.xy[1]): text.get_text() for text in panel.texts}


def test_panels_and_rows_are_named(panels):
    assert [panel.get_title() for panel in panels] == ["FrozenLake-v1", "Taxi-v3"]
    labels = [panel.get_xlabel() for panel in panels]
    assert labels == ["timesteps to a return of 0.8", "timesteps to a return of 6"]
    assert {panel.get_xscale() for panel in panels} == {"log"}
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["POWR", "DQN, tuned"]
    assert list(panels[1].get_yticklabels()) == []


def test_a_box_where_every_seed_arrives_and_else_how_many_do(panels):
    frozen_lake, taxi = panels
    assert boxes(frozen_lake) == {0: (550, 1000)}
    assert points(frozen_lake, "powr").get_xdata().tolist() == [100, 1000, 1000]
    assert texts(frozen_lake) == {1: "2 of 3 seeds"}
    assert points(frozen_lake, "dqn-tuned").get_xdata().tolist() == [1000, 10_000]
    assert boxes(taxi) == {0: (1000, 1000)}
    assert len(set(points(taxi, "powr").get_ydata())) == 3  # ties are seen apart
    assert texts(taxi) == {1: "reached by 0 of 3 seeds"}
    ends = [line.get_xdata()[0] for line in frozen_lake.lines if line.get_label() == "budget"]
    assert ends == [1000, 10_000]


def test_missing_runs_are_no_failures():
    panel = draw(make_tables((2, 0, 3, 3))).axes[0]
    assert boxes(panel) == {}  # two seeds are too few for a box
    assert texts(panel) == {0: "2 of 2 seeds", 1: "no run"}
    ends = [line.get_ydata() for line in panel.lines if line.get_label() == "budget"]
    assert ends == [[0]]  # no end of a training that never began


def test_an_algorithm_that_does_not_run_on_an_environment_is_no_failure():
    tables = make_tables()
    here = (tables.summary["environment"] == "Taxi-v3") & (tables.summary["algorithm"] == "powr")
    figure = draw(tables._replace(summary=tables.summary[~here]))
    assert texts(figure.axes[1])[0] == "not run here"
