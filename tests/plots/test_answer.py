"""The README's picture, read back from the axes."""

import pandas as pd
import pytest

from suite.config.models import AUTHORS, DEEP, DEEP_OF_SOURCE, LIBRARY, POWR
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
    ("a2c-authors", SAMPLED, OF_AUTHORS, [20, 20, 20], 9000),
    ("dqn-authors", GREEDY, OF_AUTHORS, [None, None, None], 5000),
    ("ppo-authors", GREEDY, OF_AUTHORS, [800, 600, 600], 9000),
    ("dqn-zoo", GREEDY, DEEP, [None, None, None], 3000),
    ("powr-tuned", GREEDY, "beyond the paper", [1, 1, 1], 1000),
]


def make_tables(rows=RUNS):
    runs, summary = [], []
    for algorithm, policy, kind, times, budget in rows:
        key = {"environment": "Taxi-v3", "algorithm": algorithm, "policy": policy}
        for threshold in (6, 8):  # the second one is not shown
            there = pd.Series(times, dtype=float)
            median = there.fillna(float("inf")).median()
            runs += [
                {**key, "seed": seed, "threshold": threshold, "first_arrival": time}
                for seed, time in enumerate(times)
            ]
            summary.append(
                {
                    **key,
                    "kind": kind,
                    "threshold": threshold,
                    "timesteps": budget,
                    "n_reached": there.notna().sum(),
                    "timesteps_to_threshold": median if median < float("inf") else None,
                }
            )
    return pd.DataFrame(runs), pd.DataFrame(summary)


@pytest.fixture
def panel():
    (panel,) = draw(*make_tables()).axes
    return panel


def drawn(panel, label):
    return [x for each in panel.lines if each.get_label() == label for x in each.get_xdata()]


def test_each_baseline_is_shown_under_its_better_settings(panel):
    """More seeds come first, then the smaller median."""
    names = [text.get_text() for text in panel.texts]
    assert names[1:] == ["A2C, authors' settings", "DQN, all settings", "PPO, authors' settings"]
    assert drawn(panel, "a2c") == [800, 900, 950]
    assert drawn(panel, "ppo") == [800, 600, 600]
    assert panel.get_title(loc="left") == "Taxi-v3, return 6"


def test_powr_is_shown_by_its_sampled_policy_and_by_how_much_it_leads(panel):
    assert drawn(panel, "powr") == [100, 200, 300]
    assert drawn(panel, "powr median") == [200, 200]
    assert panel.texts[0].get_text() == "POWR, 3× sooner than PPO"


def test_settings_published_elsewhere_count_too():
    times = [None, 800, 800]
    rows = [(*row[:3], times, 3000) if row[0] == "dqn-zoo" else row for row in RUNS]
    (panel,) = draw(*make_tables(rows)).axes
    assert panel.texts[2].get_text() == "DQN, rl-zoo settings"
    assert drawn(panel, "dqn") == [800, 800]


def test_runs_that_never_reach_the_threshold_stand_apart_and_hollow(panel):
    assert drawn(panel, "dqn") == drawn(panel, "dqn median") == []
    places = drawn(panel, "dqn never")
    assert len(places) == 3
    assert set(places) == {panel.get_xticks()[-1]}
    assert panel.get_xticklabels()[-1].get_text() == "never"
    assert min(places) > 9000


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([100, 200, 300], "every threshold at least 3 times sooner"),
        ([100, 230, 300], "every threshold at least 2.6 times sooner"),  # 2.608..., rounded down
        ([700, 700, 700], "0 of 1 thresholds"),
        ([300, None, None], "0 of 1 thresholds"),
    ],
)
def test_the_title_says_what_the_medians_say(times, words):
    _, summary = make_tables([("powr", SAMPLED, POWR, times, 1000), *RUNS[2:]])
    assert words in headline(best_settings(summary))


def test_against_baselines_that_never_get_there_their_budget_counts():
    _, summary = make_tables([RUNS[1], RUNS[3]])
    assert "at least 45 times sooner" in headline(best_settings(summary))
