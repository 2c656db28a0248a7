"""The tables made of hand-written run files: ties, missing seeds, thresholds never reached."""

import io
import math

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.results import aggregate, arrivals, summary
from suite.results.aggregate import curves, read_runs
from suite.results.summary import summarise
from tests.support.run_files import PROVENANCE, STUDY, csv_text, run_of, write_run

# Means at 100, 1,000 and the last timestep, seed by seed.
MEANS = {
    ("FrozenLake-v1", "powr"): [(0.0, 0.8, 1.0), (1.0, 0.0, 1.0), (0.5, 0.75, 0.9)],
    ("FrozenLake-v1", "dqn"): [(0.0, 0.0, 0.0), (0.0, 0.0, 0.8), (0.0, 0.0, 0.7)],
    ("MountainCar-v0", "powr"): [(-200.0, -105.0), (-110.0, -200.0), (-90.0, -100.0)],
    ("MountainCar-v0", "dqn"): [(-200.0, -190.0, -120.0)] * 3,
}


@pytest.fixture
def results(tmp_path):
    for (environment, algorithm), runs in MEANS.items():
        for seed, means in enumerate(runs):
            means = dict(zip((100, 1000, 5000), means, strict=False))
            text = csv_text(
                means,
                exact=0.0 if environment == "FrozenLake-v1" else None,
                sampled=means[100] if algorithm == "powr" else "",
            )
            write_run(tmp_path, run_of(environment, algorithm, seed), text)
    return tmp_path


def aggregated(results, partial=False):
    return aggregate.aggregate(STUDY, "tiny", results, partial)


def load(results, partial=False):
    return read_runs(STUDY, "tiny", results, partial)


def remove(results, environment, algorithm, *seeds):
    for seed in seeds:
        (results / run_of(environment, algorithm, seed).path).unlink()


def test_curves_are_means_and_ranges_in_the_order_of_the_study(results):
    table = curves(load(results).evaluations)
    pairs = zip(table["environment"], table["algorithm"], strict=True)
    assert list(dict.fromkeys(pairs)) == list(MEANS)
    second = table.iloc[1]
    assert (second["timestep"], second["min"], second["max"]) == (1000, 0.0, 0.8)
    assert (second["mean"], second["seeds"]) == (pytest.approx((0.8 + 0.0 + 0.75) / 3), 3)
    sampled = table[table["policy"] == "sampled"]
    assert set(sampled["algorithm"]) == {"powr"}
    assert sampled["mean"].tolist()[:3] == pytest.approx([0.5] * 3)
    remove(results, "FrozenLake-v1", "powr", 0)
    first = curves(load(results, partial=True).evaluations).iloc[0]
    assert (first["algorithm"], first["seeds"], first["mean"]) == ("powr", 2, 0.75)


@pytest.mark.parametrize(
    ("environment", "algorithm", "threshold", "times"),
    [
        ("FrozenLake-v1", "powr", 0.8, [1000, 100, 5000]),  # a tie reaches it
        ("FrozenLake-v1", "dqn", 0.8, [math.inf, 5000, math.inf]),
        ("MountainCar-v0", "powr", -100, [math.inf, math.inf, 100]),
    ],
)
def test_arrivals_of_each_run(results, environment, algorithm, threshold, times):
    table = pd.read_csv(io.StringIO(aggregated(results)["runs.csv"]))
    rows = arrivals.select(table, environment, algorithm, threshold)
    assert rows["seed"].tolist() == [0, 1, 2]
    assert arrivals.as_times(rows[arrivals.FIRST]).tolist() == times


class TestSummary:
    def test_times_and_returns_over_seeds(self, results):
        table = pd.read_csv(io.StringIO(aggregated(results)["summary.csv"]))
        rows = table.set_index(["environment", "algorithm", "policy", "threshold"])
        dqn = rows.loc["FrozenLake-v1", "dqn", "deterministic", 0.8]
        assert (dqn["n_reached"], dqn["earliest"]) == (1, 5000)
        assert dqn[["timesteps_to_threshold", "latest"]].isna().all()
        powr = rows.loc["FrozenLake-v1", "powr", "deterministic", 0.8]
        assert (powr["final_mean"], powr["final_min"]) == (pytest.approx(2.9 / 3), 0.9)
        assert (powr["optimum"], powr["exact_max"]) == (1, 1)
        assert 0 < powr["uniform"] < 0.05
        sampled = rows.loc["FrozenLake-v1", "powr", "sampled", 0.8]
        assert (sampled["final_mean"], sampled["n_reached"]) == (pytest.approx(1.5 / 3), 1)
        car = rows.loc["MountainCar-v0", "dqn", "deterministic", -110]
        assert car[["optimum", "exact_mean"]].isna().all()

    @pytest.mark.parametrize(("seeds", "enough"), [(5, False), (6, True)])
    def test_bootstrap_intervals_need_six_seeds(self, seeds, enough):
        runs = [("FrozenLake-v1", "dqn", seed, 100, seed, 0.0, math.nan) for seed in range(seeds)]
        columns = ["environment", "algorithm", "seed", "timestep", "mean", "exact_return"]
        runs = pd.DataFrame(runs, columns=[*columns, "sampled_mean"])
        arrived = arrivals.tabulate(runs, {"FrozenLake-v1": [0.8]})
        planned = [STUDY.combination("tiny", "FrozenLake-v1", "dqn")]
        table = summarise(STUDY, planned, runs, arrived)
        row = table.iloc[0]
        assert row["final_iqm"] > 0
        assert (row["final_iqm_low"] < row["final_iqm"] < row["final_iqm_high"]) == enough
        head, cells = summary.returns(table)
        assert ("[" in dict(zip(head, cells, strict=True))["IQM"]) == enough

    def test_page_shows_every_environment_and_origin(self, results):
        other = {**PROVENANCE, "python": "3.11.2", "packages": {"numpy": "2.4.5"}}
        run = run_of("MountainCar-v0", "dqn", 2)
        write_run(results, run, (results / run.path).read_text(), provenance=other)
        page = aggregated(results)["summary.md"]
        assert "12 of 12 runs" in page
        assert "| DQN | 0.8 | 1 of 3 | > 5,000 | 5,000 .. > 5,000 |" in page
        assert "| DQN | -110 | 0 of 3 | never | never within 5,000 |" in page
        assert "| POWR (sampled) |" in page
        assert "| 11 | 0123456789ab | 3.11.9 | Linux x86_64 | a processor |" in page
        assert "| 1 | 0123456789ab | 3.11.2 | Linux x86_64 | a processor |" in page


class TestMissingRuns:
    def test_each_missing_run_is_named(self, results, tmp_path):
        remove(results, "FrozenLake-v1", "powr", 1, 2)
        with pytest.raises(SuiteError, match="2 of 12 runs are missing") as caught:
            load(results)
        for seed in (1, 2):
            assert str(run_of("FrozenLake-v1", "powr", seed).path) in str(caught.value)
        with pytest.raises(SuiteError, match="12 of 12 runs are missing"):
            load(tmp_path / "none", partial=True)

    def test_partial_counts_them(self, results):
        remove(results, "FrozenLake-v1", "powr", 0, 1, 2)
        remove(results, "MountainCar-v0", "dqn", 1)
        files = aggregated(results, partial=True)
        table = pd.read_csv(io.StringIO(files["summary.csv"]))
        seeds = table.groupby(["environment", "algorithm"])["seeds"].max()
        assert (seeds["FrozenLake-v1", "powr"], seeds["MountainCar-v0", "dqn"]) == (0, 2)
        page = files["summary.md"]
        assert "8 of 12 runs" in page
        assert str(run_of("FrozenLake-v1", "powr", 0).path) in page
        _, _, *rows = page.partition(f"{summary.OVERVIEW_TITLE}\n\n")[2].splitlines()[:5]
        assert rows == [
            "| POWR | no run | 3 of 3: 100 |",
            "| DQN | 1 of 3: > 5,000 | 0 of 2 |",
            "| POWR (sampled) |  | 2 of 3: 100 |",
        ]


def test_command_writes_all_files_or_none(results, monkeypatch, capsys):
    monkeypatch.setattr(config, "load", lambda path: STUDY)
    options = ["--scale", "tiny", "--results", str(results), "--out-dir", str(results / "out")]
    path = results / run_of("FrozenLake-v1", "powr", 0).path
    whole = path.read_text()
    path.write_text(whole[:-5])
    assert aggregate.main(options) == 1
    assert capsys.readouterr().err.startswith(f"python -m suite aggregate: {path}")
    assert not (results / "out").exists()
    path.write_text(whole)
    assert aggregate.main(options) == 0
    names = {"evaluations.csv", "runs.csv", "training.csv", "curves.csv", "summary.csv"}
    assert names < {path.name for path in (results / "out").iterdir()}


@pytest.mark.parametrize(
    ("name", "settings", "timesteps"),
    [
        ("ppo", {}, 2048),
        ("trpo", {"n_envs": 8, "n_steps": 1024}, 8192),
        ("dqn", {"learning_starts": 1000, "n_envs": 4}, 1000),
        ("powr", {}, 0),
    ],
)
def test_first_update(name, settings, timesteps):
    assert aggregate.first_update({"class": name, "settings": settings}) == timesteps
