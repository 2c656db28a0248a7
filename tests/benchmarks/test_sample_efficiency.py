"""The table of timesteps to threshold, of runs made up here, and the bandit."""

import math

import pandas as pd

from benchmarks import sample_efficiency
from benchmarks.sample_efficiency import Outcome


def outcomes(*runs, exact=math.nan):
    """One outcome per run of means, evaluated at 100, 200, 400, ... timesteps."""
    return [
        Outcome(
            pd.DataFrame(
                {
                    "environment": "Lake",
                    "algorithm": "powr",
                    "seed": seed,
                    "timestep": [100 * 2**i for i in range(len(means))],
                    "mean": means,
                    "exact_return": exact,
                    "sampled_mean": 0.0,
                    "sampled_exact_return": math.nan,
                }
            ),
            60.0,
        )
        for seed, means in enumerate(runs)
    ]


RUNS = ([0.0, 0.9, 0.9, 0.9], [0.9, 0.0, 0.0, 0.0], [0.0, 0.0, 0.8, 0.9])


def test_a_row_says_when_the_threshold_was_met_and_whether_it_lasts():
    assert sample_efficiency.row(0.8, outcomes(*RUNS)) == (
        *("Lake", "0.8", "3 of 3", "200", "100 to 400", "400", "0.583", "33.3%", "60"),
    )


def test_never_is_said():
    row = sample_efficiency.row(0.95, outcomes(*RUNS))
    assert row[2:6] == ("0 of 3", "never", "never to never", "never")


def test_what_comes_after_the_first_arrival_is_judged_exactly():
    row = sample_efficiency.row(0.8, outcomes(*RUNS, exact=0.75))
    assert row[2:] == ("3 of 3", "200", "100 to 400", "never", "0.750", "100.0%", "60")


def test_the_bandit_pays_what_its_arms_promise():
    bandit = sample_efficiency.Bandit(1e3)
    bandit.reset(seed=0)
    means = [sum(bandit.step(arm)[1] for _ in range(2000)) / 2000 for arm in (0, 1)]
    assert abs(means[0] - 1000) < 100
    assert abs(means[1] - 1500) < 100
    assert bandit.step(0)[2]


def test_it_runs_anywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sample_efficiency.config, "runs", lambda study, scale: [])
    monkeypatch.setattr(sample_efficiency, "BANDIT_SEEDS", 1)
    monkeypatch.setattr(sample_efficiency, "BANDIT_SCALES", (1.0,))
    sample_efficiency.main()
    head, bandit = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "environment"
    assert bandit.startswith("two-armed bandit, rewards times 1: the right arm in ")
    assert bandit.endswith(" of 1 seeds")
