"""The training curves, read back from the axes."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from suite.plots.style import looks
from suite.plots.training_curves import draw

from .tables import GRID, make_tables


@pytest.fixture
def figure():
    return draw(make_tables())


def line(panel, algorithm):
    return next(line for line in panel.lines if line.get_label() == algorithm)


def test_one_panel_an_environment_in_log_timesteps(figure):
    assert [panel.get_title() for panel in figure.axes] == ["FrozenLake-v1", "Taxi-v3"]
    assert {panel.get_xscale() for panel in figure.axes} == {"log"}
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == ["POWR", "DQN, tuned", "threshold"]
    assert [text.get_color() for text in legend.texts[:2]] == [
        look.colour for look in looks(["powr", "dqn-tuned"]).values()
    ]
    assert "3 seeds" in figure.get_supxlabel()


def test_lines_are_means_and_powr_has_a_band_from_minimum_to_maximum(figure):
    panel = figure.axes[0]
    powr, dqn = line(panel, "powr"), line(panel, "dqn-tuned")
    np.testing.assert_array_equal(powr.get_xdata(), GRID[:2])  # it ends where training does
    np.testing.assert_array_equal(powr.get_ydata(), [0, 1])
    np.testing.assert_array_equal(dqn.get_ydata(), [0, 0.25, 0.5])
    bands = [each for each in panel.collections if isinstance(each, FillBetweenPolyCollection)]
    (band,) = bands
    vertices = band.get_paths()[0].vertices
    at_1000 = vertices[vertices[:, 0] == 1000][:, 1]
    assert (at_1000.min(), at_1000.max()) == (0.75, 1.25)


def test_every_threshold_has_a_dashed_line_and_its_value(figure):
    panel = figure.axes[1]
    lines = [each for each in panel.lines if each.get_label() == "threshold"]
    assert [each.get_ydata()[0] for each in lines] == [6, 8]
    assert {text.get_text() for text in panel.texts} == {"6", "8"}


def test_early_returns_of_taxi_do_not_squash_the_rest(figure):
    frozen_lake, taxi = figure.axes
    assert frozen_lake.get_yscale() == "linear"
    assert taxi.get_yscale() == "symlog"
    assert taxi.get_ylabel() == "mean return\n(log below −10)"
    pixels = taxi.transData.transform([(100, -2000), (100, 0), (100, 8)])[:, 1]
    assert pixels[2] - pixels[1] > 0.1 * (pixels[2] - pixels[0])
    for panel in figure.axes:
        low, high = panel.get_ylim()
        for item in panel.collections:
            heights = item.get_paths()[0].vertices[:, 1]
            assert low < heights.min() <= heights.max() < high


def test_missing_runs_are_shown_as_such():
    figure = draw(make_tables((3, 1, 0, 0)))
    assert [text.get_text() for text in figure.axes[1].texts] == ["no run"]
    assert "8 of 12 runs are missing" in figure.get_supxlabel().replace("\n", " ")
