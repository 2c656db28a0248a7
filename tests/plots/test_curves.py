"""The training curves, read back from the axes."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from suite.plots.training_curves import draw

from .tables import GRID, make_tables


@pytest.fixture
def panels():
    return draw(make_tables()).axes


def line(panel, algorithm):
    return next(line for line in panel.lines if line.get_label() == algorithm)


def band(panel, algorithm):
    bands = [item for item in panel.collections if isinstance(item, FillBetweenPolyCollection)]
    return next(item for item in bands if item.get_label() == algorithm)


def test_one_panel_an_environment_in_log_timesteps(panels):
    assert [panel.get_title() for panel in panels] == ["FrozenLake-v1", "Taxi-v3"]
    assert {panel.get_xscale() for panel in panels} == {"log"}
    assert {panel.get_xlabel() for panel in panels} == {"timesteps"}


def test_lines_are_the_means_and_end_where_training_does(panels):
    powr, dqn = line(panels[0], "powr"), line(panels[0], "dqn-tuned")
    np.testing.assert_array_equal(powr.get_xdata(), GRID[:2])
    np.testing.assert_array_equal(powr.get_ydata(), [0, 1])
    np.testing.assert_array_equal(dqn.get_xdata(), GRID)
    np.testing.assert_array_equal(dqn.get_ydata(), [0, 0.25, 0.5])


def test_bands_reach_from_minimum_to_maximum(panels):
    vertices = band(panels[0], "powr").get_paths()[0].vertices
    at_1000 = vertices[vertices[:, 0] == 1000][:, 1]
    assert (at_1000.min(), at_1000.max()) == (0.75, 1.25)


def test_every_threshold_has_a_dashed_line_and_its_value(panels):
    levels = [item.get_ydata()[0] for item in panels[1].lines if item.get_xdata()[0] == 0]
    assert levels == [6, 8]
    assert {text.get_text() for text in panels[1].texts} == {"6", "8"}


def test_early_returns_of_taxi_do_not_squash_the_rest(panels):
    frozen_lake, taxi = panels
    assert frozen_lake.get_yscale() == "linear"
    assert taxi.get_yscale() == "symlog"
    assert taxi.get_ylabel() == "mean return\n(log below −10)"
    pixels = taxi.transData.transform([(100, -2000), (100, 0), (100, 8)])[:, 1]
    assert pixels[2] - pixels[1] > 0.1 * (pixels[2] - pixels[0])


def test_everything_lies_within_the_axes(panels):
    for panel in panels:
        low, high = panel.get_ylim()
        for item in panel.collections:
            heights = item.get_paths()[0].vertices[:, 1]
            assert low < heights.min()
            assert heights.max() < high


def test_one_legend_names_algorithms_as_the_paper_does():
    figure = draw(make_tables())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == ["POWR", "DQN, tuned", "threshold"]


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ((3, 3, 3, 3), "over 3 seeds."),
        ((3, 1, 3, 3), "over 3 seeds, but FrozenLake-v1: 1 of DQN, tuned."),
        ((3, 3, 0, 2), "over 3 seeds, but Taxi-v3: none of POWR, 2 of DQN, tuned."),
        ((3, 1, 3, 1), "over 3 seeds, but 1 of DQN, tuned."),
        (
            (2, 2, 2, 1),
            "FrozenLake-v1: 2 of POWR and DQN, tuned; Taxi-v3: 2 of POWR, 1 of DQN, tuned.",
        ),
    ],
)
def test_says_how_many_seeds_it_shows(seeds, expected):
    assert expected in draw(make_tables(seeds)).get_supxlabel().replace("\n", " ")


def test_an_environment_without_runs_is_shown_as_such():
    taxi = draw(make_tables((3, 3, 0, 0))).axes[1]
    assert [text.get_text() for text in taxi.texts] == ["no run"]
