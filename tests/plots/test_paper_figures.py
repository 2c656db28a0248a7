"""The paper's two figures, read back from the axes: curves, and timesteps to threshold."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from suite.config.models import DEEP_OF_SOURCE, LIBRARY, POWR
from suite.plots import threshold_boxplots, training_curves

GRID = [100, 1000, 10_000]
KEY = ["environment", "algorithm"]
KINDS = {"powr": POWR, "dqn-tuned": DEEP_OF_SOURCE[LIBRARY]}
THRESHOLDS = {"FrozenLake-v1": [0.8], "Taxi-v3": [6, 8]}
CURVES = {  # means at the first timesteps of the grid, and their distance to the range
    ("FrozenLake-v1", "powr"): ([0.0, 1.0], 0.25),
    ("FrozenLake-v1", "dqn-tuned"): ([0.0, 0.25, 0.5], 0.0),
    ("Taxi-v3", "powr"): ([-700.0, 7.0], 1.0),
    ("Taxi-v3", "dqn-tuned"): ([-2000.0, -200.0, -200.0], 10.0),
}
TIMES = {
    ("FrozenLake-v1", "powr"): [100, 1000, 1000],
    ("FrozenLake-v1", "dqn-tuned"): [1000, None, 10_000],
    ("Taxi-v3", "powr"): [1000, 1000, 1000],
    ("Taxi-v3", "dqn-tuned"): [None, None, None],
}


class Tables(NamedTuple):
    curves: pd.DataFrame
    runs: pd.DataFrame
    summary: pd.DataFrame

    def draw(self, module):
        return module.draw(*(getattr(self, name) for name in module.TABLES))


def make_tables(seeds=(3, 3, 3, 3)):
    """`seeds`: how many runs of the three planned are finished, in the order of CURVES."""
    counts = dict(zip(CURVES, seeds, strict=True))
    curves = [
        (*pair, timestep, mean, mean - spread, mean + spread)
        for pair, (means, spread) in CURVES.items()
        for timestep, mean in zip(GRID, means, strict=False)
        if counts[pair]
    ]
    runs = [
        (*pair, seed, THRESHOLDS[pair[0]][0], timestep)
        for pair, times in TIMES.items()
        for seed, timestep in enumerate(times[: counts[pair]])
    ]
    summary = [
        (*pair, KINDS[pair[1]], counts[pair], 3, GRID[len(CURVES[pair][0]) - 1], threshold)
        for pair in CURVES
        for threshold in THRESHOLDS[pair[0]]
    ]
    names = [
        [*KEY, "timestep", "mean", "min", "max"],
        [*KEY, "seed", "threshold", "first_arrival"],
        [*KEY, "kind", "seeds", "seeds_planned", "timesteps", "threshold"],
    ]
    return Tables(
        *(
            pd.DataFrame(rows, columns=columns).assign(policy="deterministic")
            for rows, columns in zip((curves, runs, summary), names, strict=True)
        )
    )


def labelled(panel, label):
    return [line for line in panel.lines if line.get_label() == label]


class TestCurves:
    @pytest.fixture
    def figure(self):
        return make_tables().draw(training_curves)

    def test_one_panel_per_environment_in_log_timesteps(self, figure):
        assert [panel.get_title() for panel in figure.axes] == ["FrozenLake-v1", "Taxi-v3"]
        assert {panel.get_xscale() for panel in figure.axes} == {"log"}
        texts = figure.legends[0].texts
        assert [text.get_text() for text in texts] == ["POWR", "DQN, tuned", "threshold"]
        lines = labelled(figure.axes[1], "threshold")
        assert [line.get_ydata()[0] for line in lines] == [6, 8]

    def test_lines_are_means_and_powr_has_a_band_from_minimum_to_maximum(self, figure):
        panel = figure.axes[0]
        ((powr,), (dqn,)) = (labelled(panel, name) for name in ("powr", "dqn-tuned"))
        np.testing.assert_array_equal(powr.get_xdata(), GRID[:2])  # it ends where training does
        np.testing.assert_array_equal(powr.get_ydata(), [0, 1])
        np.testing.assert_array_equal(dqn.get_ydata(), [0, 0.25, 0.5])
        (band,) = (
            each for each in panel.collections if isinstance(each, FillBetweenPolyCollection)
        )
        vertices = band.get_paths()[0].vertices
        at_1000 = vertices[vertices[:, 0] == 1000][:, 1]
        assert (at_1000.min(), at_1000.max()) == (0.75, 1.25)

    def test_early_returns_of_taxi_do_not_squash_the_rest(self, figure):
        frozen_lake, taxi = figure.axes
        assert (frozen_lake.get_yscale(), taxi.get_yscale()) == ("linear", "symlog")
        pixels = taxi.transData.transform([(100, -2000), (100, 0), (100, 8)])[:, 1]
        assert pixels[2] - pixels[1] > 0.1 * (pixels[2] - pixels[0])
        for panel in figure.axes:
            low, high = panel.get_ylim()
            heights = panel.collections[0].get_paths()[0].vertices[:, 1]
            assert low < heights.min() <= heights.max() < high

    def test_missing_runs_are_shown_as_such(self):
        figure = make_tables((3, 1, 0, 0)).draw(training_curves)
        assert [text.get_text() for text in figure.axes[1].texts] == ["no run"]
        assert "8 of 12 runs are missing" in figure.get_supxlabel().replace("\n", " ")


def points(panel, algorithm):
    """Timesteps and heights of the filled points, one per seed that reaches the threshold."""
    (line,) = (each for each in labelled(panel, algorithm) if each.get_linestyle() == "None")
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def boxes(panel):
    """Row and quartiles of each box."""
    edges = {bar.get_y() + bar.get_height() / 2: bar.get_bbox() for bar in panel.patches}
    return {round(row): (box.x0, box.x1) for row, box in edges.items()}


def texts_by_row(panel):
    return {round(2 * (1 - text.get_position()[1]) - 0.5): text.get_text() for text in panel.texts}


class TestBoxes:
    @pytest.fixture
    def panels(self):
        return make_tables().draw(threshold_boxplots).axes

    def test_a_point_per_seed_and_a_box_where_every_seed_reaches_the_threshold(self, panels):
        frozen_lake, taxi = panels
        assert boxes(frozen_lake) == {0: (550, 1000)}
        assert points(frozen_lake, "powr")[0] == [100, 1000, 1000]
        assert points(frozen_lake, "dqn-tuned")[0] == [1000, 10_000]
        assert boxes(taxi) == {0: (1000, 1000)}
        assert len(set(points(taxi, "powr")[1])) == 3  # ties are seen apart
        assert [line.get_xdata()[0] for line in labelled(frozen_lake, "budget")] == [1000, 10_000]

    def test_never_stands_beyond_the_end_of_every_training(self, panels):
        for panel, runs in zip(panels, (1, 3), strict=True):
            place, label = panel.get_xticks()[-1], panel.get_xticklabels()[-1].get_text()
            assert label == "never"
            assert place > 1.5 * 10_000
            hollow = labelled(panel, "dqn-tuned never")
            assert [line.get_xdata()[0] for line in hollow] == [place] * runs
            assert {line.get_markerfacecolor() for line in hollow} == {"white"}
            assert not labelled(panel, "powr never")

    def test_missing_runs_are_no_failures(self):
        panel = make_tables((2, 0, 3, 3)).draw(threshold_boxplots).axes[0]
        assert boxes(panel) == {}  # two seeds are too few for a box
        assert texts_by_row(panel) == {1: "no run"}
        ends = [line.get_ydata() for line in labelled(panel, "budget")]
        assert ends == [[0]]  # no end of a training that never began
