"""The tables of timesteps to threshold, of runs made up here, and the bandit."""

import math
from pathlib import Path

import pandas as pd

from extension import sample_efficiency
from suite import config
from suite.config import Combination


def evaluations(*runs, exact=math.nan):
    """One run per list of means, evaluated at 100, 200, 400, ... timesteps."""
    return pd.concat(
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
        )
        for seed, means in enumerate(runs)
    )


ROOT = Path(__file__).parents[1]
RUNS = ([0.0, 0.9, 0.9, 0.9], [0.9, 0.0, 0.0, 0.0], [0.0, 0.0, 0.8, 0.9])


def row(evaluations, threshold, seconds=(1.0,), algorithm="powr-default"):
    protocol = {"first": 100, "per_decade": 1}
    settings = {"timesteps": 800, "evaluation": protocol, "algorithm": {"settings": {}}}
    planned = Combination("scale", "Lake", algorithm, settings, len(RUNS), {})
    return sample_efficiency.row(planned, evaluations, threshold, list(seconds))


def test_a_row_says_when_the_threshold_was_met_and_whether_it_lasts():
    assert tuple(row(evaluations(*RUNS), 0.8, [0.4, 0.8, 1.6]).values()) == (
        *("Lake", "0.8", "POWR, default", "800", "3 of 3", "200", "100 to 400", "400"),
        *("0.583", "0.000", "33.3%", "1"),
    )


def test_never_is_said():
    cells = row(evaluations(*RUNS), 0.95)
    assert (cells["arrived"], cells["first"], cells["lasting"]) == ("0 of 3", "never", "never")
    assert cells["range"] == "never to never"


def test_what_comes_after_the_first_arrival_is_judged_exactly():
    cells = row(evaluations(*RUNS, exact=0.75), 0.8)
    assert (cells["first"], cells["lasting"]) == ("200", "never")
    assert (cells["late mean"], cells["lowest seed"]) == ("0.750", "0.750")
    assert cells["late below"] == "100.0%"


def test_random_play_is_judged_by_its_sampled_actions():
    runs = evaluations(*RUNS, exact=0.75).assign(sampled_mean=0.4, sampled_exact_return=0.3)
    cells = row(runs, 0.8, algorithm="random-play")
    assert cells["algorithm"] == "random play"
    assert (cells["arrived"], cells["late mean"]) == ("0 of 3", "0.300")


def test_the_car_is_judged_from_5000_timesteps_on(monkeypatch):
    monkeypatch.setitem(sample_efficiency.JUDGED_FROM, "Lake", 100)
    assert row(evaluations(*RUNS), 0.8)["late below"] == "50.0%"


def test_a_scale_without_tables_is_no_part_of_the_page(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text((ROOT / "study.yaml").read_text())
    study = config.load(path)
    for scale in sample_efficiency.MORE:
        assert not sample_efficiency.has_tables(study, scale)
    (study.results / "unseen").mkdir(parents=True)
    (study.results / "unseen" / "evaluations.csv").touch()
    assert sample_efficiency.has_tables(study, "unseen")


def test_an_ablation_is_a_line_and_an_environment_a_column():
    table = pd.DataFrame(
        {
            "environment": ["Lake", "Lake"],
            "change": ["nothing", "optimism"],
            "n_reached": [3, 1],
            "seeds": [3, 3],
            "median_first_arrival": [1200.0, math.nan],
            "late_return": [0.741, 0.1],
        }
    )
    lines = sample_efficiency.ablations(table).splitlines()
    assert [cell.strip() for cell in lines[0].split("|")[1:3]] == ["what is undone", "Lake"]
    assert "1,200; 0.741" in lines[2]
    assert "never (1 of 3); 0.1" in lines[3]


def test_the_bandit_pays_what_its_arms_promise():
    bandit = sample_efficiency.Bandit(1e3)
    bandit.reset(seed=0)
    means = [sum(bandit.step(arm)[1] for _ in range(2000)) / 2000 for arm in (0, 1)]
    assert abs(means[0] - 1000) < 100
    assert abs(means[1] - 1500) < 100
    assert bandit.step(0)[2]


def test_the_bandit_is_counted_by_scale(monkeypatch):
    monkeypatch.setattr(sample_efficiency, "BANDIT_SEEDS", 2)
    monkeypatch.setattr(sample_efficiency, "BANDIT_SCALES", (1.0, 1e3))
    first, second = sample_efficiency.bandit().splitlines()
    assert first.startswith("- two-armed bandit, rewards times 1: the right arm in ")
    assert second.endswith(" of 2 seeds")
