"""The tables made of hand-written run files: ties, missing seeds, thresholds never reached."""

import io
import math

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.config.kinds import AUTHORS, DEEP_OF_SOURCE, LIBRARY, POWR, TEXTBOOK
from suite.results import aggregate, arrivals, summary_page
from suite.results.aggregate import curves, exact_bounds, load_runs, plan
from suite.results.summary import Bounds, Planned, shared_window, summarise
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
            text = csv_text(
                dict(zip((100, 1000, 5000), means, strict=False)),
                exact=0.0 if environment == "FrozenLake-v1" else None,
                sampled=means[0] if algorithm == "powr" else "",
            )
            write_run(tmp_path, run_of(environment, algorithm, seed), text)
    return tmp_path


def aggregated(results, partial=False):
    return aggregate.aggregate(STUDY, "tiny", results, partial)


def remove(results, environment, algorithm, *seeds):
    for seed in seeds:
        (results / run_of(environment, algorithm, seed).path).unlink()


class TestCurves:
    def test_mean_and_range_over_seeds_in_the_order_of_the_study(self, results):
        table = curves(load_runs(STUDY, "tiny", results, partial=False).evaluations)
        assert ",".join(table.columns) == "environment,algorithm,policy,timestep,mean,min,max,seeds"
        pairs = zip(table["environment"], table["algorithm"], strict=True)
        assert list(dict.fromkeys(pairs)) == list(MEANS)
        second = table.iloc[1]
        assert (second["timestep"], second["min"], second["max"]) == (1000, 0.0, 0.8)
        assert (second["mean"], second["seeds"]) == (pytest.approx((0.8 + 0.0 + 0.75) / 3), 3)

    def test_both_policies_have_curves_where_both_were_recorded(self, results):
        table = curves(load_runs(STUDY, "tiny", results, partial=False).evaluations)
        policies = table.groupby("algorithm")["policy"].unique()
        assert list(policies["powr"]) == ["deterministic", "sampled"]
        assert list(policies["dqn"]) == ["deterministic"]
        sampled = table.query("environment == 'FrozenLake-v1' and policy == 'sampled'")
        assert sampled["mean"].tolist() == pytest.approx([0.5] * 3)

    def test_order_holds_when_seed_zero_is_missing(self, results):
        remove(results, "FrozenLake-v1", "powr", 0)
        first = curves(load_runs(STUDY, "tiny", results, partial=True).evaluations).iloc[0]
        assert (first["algorithm"], first["seeds"], first["mean"]) == ("powr", 2, 0.75)


@pytest.mark.parametrize(
    ("environment", "algorithm", "threshold", "times"),
    [
        ("FrozenLake-v1", "powr", 0.8, [1000, 100, 5000]),  # a tie reaches it
        ("FrozenLake-v1", "dqn", 0.8, [math.inf, 5000, math.inf]),
        ("MountainCar-v0", "powr", -110, [1000, 100, 100]),
        ("MountainCar-v0", "powr", -100, [math.inf, math.inf, 100]),
    ],
)
def test_arrivals_of_each_run(results, environment, algorithm, threshold, times):
    table = pd.read_csv(io.StringIO(aggregated(results)["runs.csv"]))
    rows = arrivals.select(table, environment, algorithm, threshold)
    assert rows["seed"].tolist() == [0, 1, 2]
    assert arrivals.as_times(rows[arrivals.FIRST]).tolist() == times


@pytest.fixture
def rows(results):
    table = pd.read_csv(io.StringIO(aggregated(results)["summary.csv"]))
    return table.set_index(["environment", "algorithm", "policy", "threshold"])


class TestSummary:
    def test_times_and_returns_over_seeds(self, rows):
        dqn = rows.loc["FrozenLake-v1", "dqn", "deterministic", 0.8]
        assert (dqn["n_reached"], dqn["earliest"], dqn["area_until"]) == (1, 5000, 5000)
        assert dqn[["timesteps_to_threshold", "latest"]].isna().all()
        powr = rows.loc["FrozenLake-v1", "powr", "deterministic", 0.8]
        assert (powr["final_mean"], powr["final_min"]) == (pytest.approx(2.9 / 3), 0.9)
        assert powr["optimum"] == 1
        assert 0 < powr["uniform"] < 0.05
        expected = (2.9 / 3 - powr["uniform"]) / (1 - powr["uniform"])
        assert powr["normalised_iqm"] == pytest.approx(expected)

    def test_sampled_policy_of_powr_has_rows_of_its_own(self, rows):
        row = rows.loc["FrozenLake-v1", "powr", "sampled", 0.8]
        assert (row["final_mean"], row["n_reached"]) == (pytest.approx((0.0 + 1.0 + 0.5) / 3), 1)
        assert set(rows.query("algorithm == 'dqn'").reset_index()["policy"]) == {"deterministic"}

    def test_without_transition_table_there_is_no_exact_return(self, rows):
        row = rows.loc["MountainCar-v0", "dqn", "deterministic", -110]
        assert row[["optimum", "exact_mean", "normalised_iqm"]].isna().all()
        # After DQN's first update, until the end of POWR's training.
        assert (row["area_from"], row["area_until"]) == (1000, 1000)

    @pytest.mark.parametrize(("seeds", "enough"), [(5, False), (6, True)])
    def test_bootstrap_intervals_need_six_seeds(self, seeds, enough):
        runs = [("dqn", seed, timestep, seed) for seed in range(seeds) for timestep in (100, 1000)]
        table = summarised(runs, [Planned("E", "dqn", 7, [100, 1000])], Bounds(0, 10))
        row = table.iloc[0]
        for name in ("final_iqm", "normalised_iqm", "area_iqm"):
            assert row[name] > 0
            assert (row[f"{name}_low"] < row[name] < row[f"{name}_high"]) == enough
        head, cells = summary_page.returns(table)
        shown = dict(zip(head, cells, strict=True))
        for name in ("IQM", "score", "area from 100 to 1,000"):
            assert ("[" in shown[name]) == enough

    def test_a_peer_that_trains_briefly_cuts_no_area_short(self):
        """The window is that of the paper's figures; who does not learn over all has none."""
        grid = [100, 1000, 5000, 10_000]
        plan = [
            Planned("E", "powr", 7, [10, *grid], kind=POWR),
            Planned("E", "dqn", 7, grid, first_update=100, kind=DEEP_OF_SOURCE[LIBRARY]),
            Planned("E", "rmax", 7, grid[:2], kind=TEXTBOOK),
            Planned("E", "a2c", 7, grid, first_update=5000, kind=DEEP_OF_SOURCE[AUTHORS]),
        ]
        assert shared_window(plan, "E") == (1000, 10_000)
        runs = [(each.algorithm, 0, timestep, 1.0) for each in plan for timestep in each.timesteps]
        table = summarised(runs, plan, Bounds(0, 10)).set_index("algorithm")
        assert table["area_iqm"].dropna().to_dict() == {"powr": 1, "dqn": 1}
        shown = {cells[0]: cells[-1] for cells in summary_page.returns(table.reset_index())}
        assert shown["R-max"] == "none"

    def test_page_shows_every_environment_and_origin(self, results):
        other = {**PROVENANCE, "python": "3.11.2", "packages": {"numpy": "2.4.5"}}
        run = run_of("MountainCar-v0", "dqn", 2)
        write_run(results, run, (results / run.path).read_text(), provenance=other)
        page = aggregated(results)["summary.md"]
        assert "12 of 12 runs" in page
        assert "| DQN | 0.8 | 1 of 3 | > 5,000 | 5,000 .. > 5,000 |" in page
        assert "| DQN | -110 | 0 of 3 | never | never within 5,000 |" in page
        assert "| POWR (sampled) |" in page
        assert "| 11 | 0123456789ab | 3.11.9 | Linux x86_64 | a processor | numpy 2.4.6 |" in page
        assert "| 1 | 0123456789ab | 3.11.2 | Linux x86_64 | a processor | numpy 2.4.5 |" in page


def summarised(runs, plan, bounds):
    """Of runs as (algorithm, seed, timestep, return), on one environment with the threshold 0."""
    table = pd.DataFrame(runs, columns=["algorithm", "seed", "timestep", "mean"])
    table = table.assign(environment="E", exact_return=table["mean"], sampled_mean=math.nan)
    return summarise(table, arrivals.tabulate(table, {"E": [0]}), plan, {"E": [0]}, {"E": bounds})


class TestMissingRuns:
    def test_each_missing_run_is_named(self, results):
        remove(results, "FrozenLake-v1", "powr", 1, 2)
        with pytest.raises(SuiteError, match="2 of 12 runs are missing") as caught:
            load_runs(STUDY, "tiny", results, partial=False)
        for seed in (1, 2):
            assert str(run_of("FrozenLake-v1", "powr", seed).path) in str(caught.value)

    def test_partial_counts_them(self, results):
        remove(results, "FrozenLake-v1", "powr", 0, 1, 2)
        remove(results, "MountainCar-v0", "dqn", 1)
        files = aggregated(results, partial=True)
        summary = pd.read_csv(io.StringIO(files["summary.csv"]))
        seeds = summary.groupby(["environment", "algorithm"])["seeds"].max()
        assert (seeds["FrozenLake-v1", "powr"], seeds["MountainCar-v0", "dqn"]) == (0, 2)
        assert set(summary["seeds_planned"]) == {3}
        page = files["summary.md"]
        assert "8 of 12 runs" in page
        assert str(run_of("FrozenLake-v1", "powr", 0).path) in page
        head, _, *rows = page.partition(f"{summary_page.OVERVIEW_TITLE}\n\n")[2].splitlines()[:5]
        assert head == "| algorithm | FrozenLake-v1, return 0.8 | MountainCar-v0, return -110 |"
        assert rows == [
            "| POWR | no run | 3 of 3: 100 |",
            "| DQN | 1 of 3: > 5,000 | 0 of 2 |",
            "| POWR (sampled) |  | 2 of 3: 100 |",
        ]

    def test_partial_without_any_run_is_an_error(self, tmp_path):
        with pytest.raises(SuiteError, match="12 of 12 runs are missing"):
            load_runs(STUDY, "tiny", tmp_path, partial=True)

    def test_run_files_of_other_settings_are_never_read(self, results):
        before = aggregated(results)
        good = results / run_of("FrozenLake-v1", "powr", 0).path
        good.with_name("seed0-000000000000.csv").write_text("stale")
        good.with_name("seed10-" + good.name.split("-")[1]).write_text("beyond the seeds")
        assert aggregated(results) == before


def test_plan_follows_the_study():
    planned = {(pair.environment, pair.algorithm): pair.timesteps for pair in plan(STUDY, "tiny")}
    assert list(planned) == list(MEANS)
    assert planned["MountainCar-v0", "powr"] == [100, 1000]
    assert planned["MountainCar-v0", "dqn"] == [100, 1000, 5000]


def test_taxi_cannot_be_solved_to_its_registered_threshold():
    assert exact_bounds({"id": "Taxi-v3", "kwargs": {}}).optimum == pytest.approx(7.93, abs=0.005)


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
    names = ["curves.csv", "runs.csv", "summary.csv", "summary.md"]
    assert sorted(path.name for path in (results / "out").iterdir()) == names


@pytest.mark.parametrize(
    ("name", "settings", "timesteps"),
    [
        ("ppo", {}, 2048),
        ("trpo", {"n_envs": 8, "n_steps": 1024}, 8192),
        ("a2c", {"n_envs": 16}, 80),
        ("dqn", {}, 100),
        ("dqn", {"learning_starts": 1000, "n_envs": 4}, 1000),
        ("powr", {}, 0),
    ],
)
def test_first_update(name, settings, timesteps):
    assert aggregate.first_update({"class": name, "settings": settings}) == timesteps
