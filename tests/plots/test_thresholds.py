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
    """Timesteps of the seeds drawn as points."""
    lines = [line for line in panel.lines if line.get_label() == algorithm]
    return next(line for line in lines if line.get_linestyle() == "None").get_xdata().tolist()


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


def test_panels_name_environment_and_threshold(panels):
    assert [panel.get_title() for panel in panels] == ["FrozenLake-v1", "Taxi-v3"]
    labels = [panel.get_xlabel() for panel in panels]
    assert labels == ["timesteps to a return of 0.8", "timesteps to a return of 6"]
    assert {panel.get_xscale() for panel in panels} == {"log"}


def test_rows_are_named_once(panels):
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["POWR", "DQN, tuned"]
    assert list(panels[1].get_yticklabels()) == []


def test_box_where_every_seed_arrives(panels):
    assert boxes(panels[0]) == {0: (550, 1000)}
    assert points(panels[0], "powr") == [100, 1000, 1000]


def test_count_in_the_place_of_the_box_where_some_never_arrive(panels):
    assert texts(panels[0]) == {1: "2 of 3"}
    assert points(panels[0], "dqn-tuned") == [1000, 10_000]


def test_not_reached_in_the_place_of_the_box_where_none_arrives(panels):
    assert texts(panels[1]) == {1: "not reached, 0 of 3"}
    assert boxes(panels[1]) == {0: (1000, 1000)}


def test_seeds_that_tie_are_seen_apart(panels):
    line = next(line for line in panels[1].lines if len(line.get_xdata()) == 3)
    assert len(set(line.get_ydata())) == 3


def test_missing_runs_are_no_failures():
    figure = draw(make_tables((3, 0, 3, 3)))
    assert texts(figure.axes[0]) == {1: "no run"}
    ends = [line.get_ydata() for line in figure.axes[0].lines if line.get_label() == "budget"]
    assert ends == [[0]]  # no end of a training that never began
    assert "FrozenLake-v1: none of DQN, tuned" in " ".join(figure.get_supxlabel().split())


def test_an_algorithm_that_does_not_run_on_an_environment_is_no_failure():
    tables = make_tables()
    here = (tables.summary["environment"] == "Taxi-v3") & (tables.summary["algorithm"] == "powr")
    figure = draw(tables._replace(summary=tables.summary[~here]))
    assert texts(figure.axes[1])[0] == "not run here"


def test_end_of_training_is_marked(panels):
    ends = [line.get_xdata()[0] for line in panels[0].lines if line.get_label() == "budget"]
    assert ends == [1000, 10_000]


def test_no_box_of_two_seeds():
    panel = draw(make_tables((2, 3, 3, 3))).axes[0]
    assert boxes(panel) == {}
    assert texts(panel)[0] == "2 of 2"
