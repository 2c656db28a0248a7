"""The box plots, read back from the axes."""

import pytest

from suite.plots.threshold_boxplots import draw

from .tables import make_tables


@pytest.fixture
def panels():
    return draw(make_tables()).axes


def points(panel, algorithm):
    """Timesteps and heights of the filled points, one per seed that reaches the threshold."""
    lines = [line for line in panel.lines if line.get_label() == algorithm]
    (line,) = [line for line in lines if line.get_linestyle() == "None"]
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def never(panel, algorithm):
    """Places of the hollow points, one per seed that does not."""
    lines = [line for line in panel.lines if line.get_label() == f"{algorithm} never"]
    assert all(line.get_markerfacecolor() == "white" for line in lines)
    return [line.get_xdata()[0] for line in lines]


def boxes(panel):
    """Row and quartiles of each box."""
    edges = {bar.get_y() + bar.get_height() / 2: bar.get_bbox() for bar in panel.patches}
    return {round(row): (box.x0, box.x1) for row, box in edges.items()}


def texts(panel, rows=2):
    return {
        round(rows * (1 - text.get_position()[1]) - 0.5): text.get_text() for text in panel.texts
    }


def test_panels_and_rows_are_named(panels):
    assert [panel.get_title() for panel in panels] == ["FrozenLake-v1", "Taxi-v3"]
    labels = [panel.get_xlabel() for panel in panels]
    assert labels == ["timesteps to a return of 0.8", "timesteps to a return of 6"]
    assert {panel.get_xscale() for panel in panels} == {"log"}
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["POWR", "DQN, tuned"]
    assert not panels[1].get_yticklabels()


def test_a_point_per_seed_and_a_box_where_every_seed_reaches_the_threshold(panels):
    frozen_lake, taxi = panels
    assert boxes(frozen_lake) == {0: (550, 1000)}
    assert points(frozen_lake, "powr")[0] == [100, 1000, 1000]
    assert points(frozen_lake, "dqn-tuned")[0] == [1000, 10_000]
    assert boxes(taxi) == {0: (1000, 1000)}
    assert len(set(points(taxi, "powr")[1])) == 3  # ties are seen apart
    ends = [line.get_xdata()[0] for line in frozen_lake.lines if line.get_label() == "budget"]
    assert ends == [1000, 10_000]


def test_never_stands_beyond_the_end_of_every_training(panels):
    for panel, runs in zip(panels, (1, 3), strict=True):
        labels = {
            text.get_text(): place
            for place, text in zip(panel.get_xticks(), panel.get_xticklabels(), strict=True)
        }
        assert never(panel, "dqn-tuned") == [labels["never"]] * runs
        assert labels["never"] > 1.5 * 10_000
        assert not never(panel, "powr")


def test_missing_runs_are_no_failures():
    panel = draw(make_tables((2, 0, 3, 3))).axes[0]
    assert boxes(panel) == {}  # two seeds are too few for a box
    assert texts(panel) == {1: "no run"}
    ends = [line.get_ydata() for line in panel.lines if line.get_label() == "budget"]
    assert ends == [[0]]  # no end of a training that never began


def test_an_algorithm_that_does_not_run_on_an_environment_is_no_failure():
    tables = make_tables()
    here = (tables.summary["environment"] == "Taxi-v3") & (tables.summary["algorithm"] == "powr")
    figure = draw(tables._replace(summary=tables.summary[~here]))
    assert texts(figure.axes[1])[0] == "not run here"
