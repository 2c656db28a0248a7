"""The paper's two figures, read back from the axes: they show what the shipped tables say."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from suite.config.models import LIBRARY
from suite.plots import render, threshold_boxplots, training_curves
from tests.support.run_files import ROOT

NAMES = ("curves", "runs", "summary")


@pytest.fixture(scope="module")
def tables():
    shipped = [pd.read_csv(ROOT / f"results/paper/{name}.csv") for name in NAMES]
    return dict(zip(NAMES, render.of_paper(shipped, LIBRARY), strict=True))


def draw(module, tables):
    return module.draw(*(tables[name] for name in module.TABLES))


def without(tables, environment, algorithm):
    """The tables as they are before the first run of an algorithm on an environment."""

    def is_it(table):
        return (table["environment"] == environment) & (table["algorithm"] == algorithm)

    summary = tables["summary"]
    kept = {name: table[~is_it(table)] for name, table in tables.items()}
    return kept | {"summary": summary.assign(seeds=summary["seeds"].mask(is_it(summary), 0))}


def labelled(panel, label):
    return [line for line in panel.lines if line.get_label() == label]


class TestCurves:
    @pytest.fixture
    def panels(self, tables):
        figure = draw(training_curves, tables)
        texts = [text.get_text() for text in figure.legends[0].texts]
        assert texts == ["POWR", "A2C", "DQN", "PPO", "TRPO", "threshold"]
        return {panel.get_title(): panel for panel in figure.axes}

    def test_lines_are_means_in_log_timesteps(self, tables, panels):
        by_line = tables["curves"].groupby(["environment", "algorithm"])
        assert {environment for environment, _ in by_line.groups} == set(panels)
        for (environment, algorithm), rows in by_line:
            (line,) = labelled(panels[environment], algorithm)
            np.testing.assert_array_equal(line.get_xdata(), rows["timestep"])
            np.testing.assert_array_equal(line.get_ydata(), rows["mean"])
            assert panels[environment].get_xscale() == "log"

    def test_powr_has_a_band_from_minimum_to_maximum(self, tables, panels):
        curves = tables["curves"]
        for environment, panel in panels.items():
            rows = curves[(curves["environment"] == environment) & (curves["algorithm"] == "powr")]
            (band,) = (e for e in panel.collections if isinstance(e, FillBetweenPolyCollection))
            corners = set(map(tuple, band.get_paths()[0].vertices))
            for edge in ("min", "max"):
                assert set(zip(rows["timestep"], rows[edge], strict=True)) <= corners
            low, high = panel.get_ylim()
            assert low < rows["min"].min() <= rows["max"].max() < high

    def test_early_returns_of_taxi_do_not_squash_the_rest(self, panels):
        assert panels["FrozenLake-v1"].get_yscale() == "linear"
        pixels = panels["Taxi-v3"].transData.transform([(100, -2000), (100, 0), (100, 8)])[:, 1]
        assert pixels[2] - pixels[1] > 0.1 * (pixels[2] - pixels[0])
        thresholds = [line.get_ydata()[0] for line in labelled(panels["Taxi-v3"], "threshold")]
        assert thresholds == [6, 8]

    def test_missing_runs_are_counted(self, tables):
        figure = draw(training_curves, without(tables, "Taxi-v3", "dqn"))
        assert "7 of 105 runs are missing" in figure.get_supxlabel().replace("\n", " ")


class TestBoxes:
    def test_a_point_per_seed_and_a_box_where_every_seed_reaches_the_threshold(self, tables):
        panels = {panel.get_title(): panel for panel in draw(threshold_boxplots, tables).axes}
        runs = tables["runs"]
        first = runs.groupby("environment")["threshold"].transform("first")
        by_row = runs[runs["threshold"] == first].groupby(["environment", "algorithm"])
        for (environment, algorithm), rows in by_row:
            panel, times = panels[environment], rows["first_arrival"].dropna()
            (points,) = labelled(panel, algorithm)
            assert points.get_xdata().tolist() == times.tolist()
            assert len(set(points.get_ydata())) == len(times)  # ties are seen apart
            hollow = labelled(panel, f"{algorithm} never")
            assert [line.get_xdata()[0] for line in hollow] == [panel.get_xticks()[-1]] * (
                7 - len(times)
            )
            assert panel.get_xticklabels()[-1].get_text() == "never"
            boxes = [bars[0] for bars in panel.containers if bars.get_label() == algorithm]
            assert len(boxes) == (len(times) == 7)
            for box in boxes:
                quartiles = times.quantile([0.25, 0.75])
                np.testing.assert_allclose(box.get_bbox().intervalx, quartiles)

    def test_missing_runs_are_no_failures(self, tables):
        panel = draw(threshold_boxplots, without(tables, "Taxi-v3", "dqn")).axes[1]
        assert [text.get_text() for text in panel.texts] == ["no run"]
        assert labelled(panel, "dqn never") == labelled(panel, "dqn") == []
