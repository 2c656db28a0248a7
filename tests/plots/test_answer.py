"""The README's picture, read back from the axes."""

import pandas as pd
import pytest

from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY, POWR
from suite.plots.answer import draw, headline
from suite.results.ranking import best_settings

OF_LIBRARY, OF_AUTHORS = DEEP_OF_SOURCE[LIBRARY], DEEP_OF_SOURCE[AUTHORS]
GREEDY, SAMPLED = "deterministic", "sampled"
# algorithm, policy, kind, timesteps to the threshold of each seed (None: never), budget
RUNS = [
    ("powr", GREEDY, POWR, [10, 10, 10], 1000),
    ("powr", SAMPLED, POWR, [100, 200, 300], 1000),
    ("a2c", GREEDY, OF_LIBRARY, [400, 500, None], 9000),
    ("dqn", GREEDY, OF_LIBRARY, [None, None, None], 9000),
    ("ppo", GREEDY, OF_LIBRARY, [700, 700, 700], 9000),
    ("a2c-authors", GREEDY, OF_AUTHORS, [800, 900, 950], 9000),
    ("dqn-authors", GREEDY, OF_AUTHORS, [None, None, None], 5000),
    ("ppo-authors", GREEDY, OF_AUTHORS, [800, 600, 600], 9000),
    ("powr-tuned", GREEDY, "beyond the paper", [1, 1, 1], 1000),
]


def make_tables(rows=RUNS):
    runs, summary = [], []
    for algorithm, policy, kind, times, budget in rows:
        key = {"environment": "Taxi-v3", "algorithm": algorithm, "policy": policy, "threshold": 6}
        times = pd.Series(times, dtype=float)
        runs += [{**key, "seed": seed, "first_arrival": time} for seed, time in times.items()]
        counts = {"kind": kind, "timesteps": budget, "n_reached": times.notna().sum()}
        median = times.fillna(float("inf")).median()
        summary.append({**key, **counts, "timesteps_to_threshold": median})
    return pd.DataFrame(runs), pd.DataFrame(summary).replace(float("inf"), float("nan"))


@pytest.fixture
def panel():
    (panel,) = draw(*make_tables()).axes
    return panel


def drawn(panel, label):
    return [x for each in panel.lines if each.get_label() == label for x in each.get_xdata()]


def test_powr_is_sampled_and_baselines_have_their_better_settings(panel):
    """More seeds come first, then the smaller median."""
    assert [text.get_text() for text in panel.texts] == [
        "POWR, 3× sooner than PPO",
        "A2C, authors' settings",
        "DQN, all settings",
        "PPO, authors' settings",
    ]
    assert drawn(panel, "powr") == [100, 200, 300]
    assert drawn(panel, "powr median") == [200, 200]
    assert drawn(panel, "a2c") == [800, 900, 950]
    assert drawn(panel, "ppo") == [800, 600, 600]
    assert panel.get_title(loc="left") == "Taxi-v3, return 6"


def test_runs_that_never_reach_the_threshold_stand_apart(panel):
    assert drawn(panel, "dqn") == drawn(panel, "dqn median") == []
    assert drawn(panel, "dqn never") == [panel.get_xticks()[-1]] * 3
    assert panel.get_xticklabels()[-1].get_text() == "never"
    assert panel.get_xticks()[-1] > 9000


@pytest.mark.parametrize(
    ("times", "others", "words"),
    [
        ([100, 230, 300], RUNS[2:], "every threshold at least 2.6 times sooner"),  # rounded down
        ([300, None, None], RUNS[2:], "0 of 1 thresholds"),
        ([100, 200, 300], [RUNS[3]], "at least 45 times sooner"),  # never: its budget counts
    ],
)
def test_the_title_says_what_the_medians_say(times, others, words):
    _, summary = make_tables([("powr", SAMPLED, POWR, times, 1000), *others])
    assert words in headline(best_settings(summary))
