"""The ranking, read back from the axes."""

import itertools

import pandas as pd
import pytest
from matplotlib.text import Text

from suite.plots.ranking import draw

D = "deterministic"
ROWS = [
    # algorithm, policy, kind, budget, seeds, reached, median, earliest, latest, seconds, by what
    ("powr", D, "the paper's POWR", 1000, 3, 3, 100, 100, 200, 1.5, "CPU"),
    ("powr", "sampled", "the paper's POWR", 1000, 0, 0, None, None, None, None, None),
    ("dyna-q", D, "textbook", 1000, 3, 3, 150, 100, 160, 2.0, "CPU"),
    ("rmax", D, "textbook", 1000, 3, 3, 120, 100, 160, 1.0, "CPU"),
    ("ppo", D, "deep, library defaults", 10_000, 3, 1, None, 5000, None, None, "clock"),
    ("dqn", D, "deep, library defaults", 10_000, 3, 0, None, None, None, None, "clock"),
    ("a2c", D, "deep, library defaults", 10_000, 2, 2, 4000, 3000, 5000, 90.0, "clock"),
]


@pytest.fixture
def table():
    columns = ["algorithm", "policy", "kind", "timesteps", "seeds", "n_reached", "median"]
    columns += ["earliest", "latest", "seconds_to_threshold", "measured_by"]
    return pd.DataFrame(ROWS, columns=columns).assign(
        environment="Taxi-v3",
        threshold=6,
        seeds_planned=3,
        first_evaluation=[10] * 4 + [100] * 3,
        seconds_in_all=600.0,
    )


@pytest.fixture
def panel(table):
    return draw(table).axes[0]


def texts(panel):
    return [text.get_text() for text in panel.texts]


def names(panel):
    """Heights of the names left of the axis, from top to bottom."""
    left = [text for text in panel.texts if type(text) is Text and text.get_position()[0] < 0]
    return {text.get_text(): text.get_position()[1] for text in left}


def test_kinds_stand_apart_and_each_begins_with_its_earliest(panel):
    powr, others = ["POWR, greedy", "POWR, sampled"], ["R-max", "Dyna-Q", "A2C", "PPO", "DQN"]
    assert list(names(panel)) == powr + others
    gaps = [after - before for before, after in itertools.pairwise(names(panel).values())]
    assert [gap > 1 for gap in gaps] == [False, True, False, True, False, False]


def test_marks_are_medians_and_lines_ranges(panel):
    named = [line for line in panel.lines if not line.get_label().startswith("_")]
    marks = {line.get_label(): float(line.get_xdata()[0]) for line in named}
    assert marks == {"POWR, greedy": 100, "R-max": 120, "Dyna-Q": 150, "A2C": 4000}
    ranges = [tuple(line.get_xdata()) for line in panel.lines if line.get_marker() == "|"]
    assert {(100, 200), (5000, 10_000)} <= set(ranges)  # to the latest, or to the budget


def test_bounds_and_missing_runs_are_written(panel):
    written = texts(panel)
    assert written.count("> 10,000") == written.count("> 10 min") == 2
    assert {"1 of 3", "0 of 3", "no run", "2 seeds so far"} <= set(written)
    assert {"≤ 2 min", "1.5 s"} <= set(written)  # by the clock, and by the CPU
