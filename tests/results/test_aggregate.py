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


@pytest.fixture
def evaluations(results):
    return load_runs(STUDY, "tiny", results, partial=False).evaluations


@pytest.fixture
def tables(results):
    files = aggregate.aggregate(STUDY, "tiny", results, partial=False)
    return {name: pd.read_csv(io.StringIO(text)) for name, text in files.items() if "csv" in name}


def remove(results, environment, algorithm, *seeds):
    for seed in seeds:
        (results / run_of(environment, algorithm, seed).path).unlink()


class TestCurves:
    def test_mean_and_range_over_seeds(self, evaluations):
        table = curves(evaluations)
        row = table.query("environment == 'FrozenLake-v1' and algorithm == 'powr'").iloc[1]
        assert row["timestep"] == 1000
        assert row["mean"] == pytest.approx((0.8 + 0.0 + 0.75) / 3)
        assert (row["min"], row["max"], row["seeds"]) == (0.0, 0.8, 3)

    def test_both_policies_have_curves_where_both_were_recorded(self, evaluations):
        table = curves(evaluations)
        policies = table.groupby("algorithm")["policy"].unique()
        assert list(policies["powr"]) == ["deterministic", "sampled"]
        assert list(policies["dqn"]) == ["deterministic"]
        sampled = table.query("environment == 'FrozenLake-v1' and policy == 'sampled'")
        assert sampled["mean"].tolist() == pytest.approx([0.5] * 3)

    def test_columns_and_order_are_those_of_the_study(self, evaluations):
        table = curves(evaluations)
        assert ",".join(table.columns) == "environment,algorithm,policy,timestep,mean,min,max,seeds"
        pairs = list(dict.fromkeys(zip(table["environment"], table["algorithm"], strict=True)))
        assert pairs == list(MEANS)

    def test_each_algorithm_keeps_its_own_budget(self, evaluations):
        last = curves(evaluations).groupby(["environment", "algorithm"])["timestep"].max()
        assert last["MountainCar-v0", "powr"] == 1000
        assert last["MountainCar-v0", "dqn"] == 5000

    def test_order_holds_when_seed_zero_is_missing(self, results):
        remove(results, "FrozenLake-v1", "powr", 0)
        table = curves(load_runs(STUDY, "tiny", results, partial=True).evaluations)
        assert table["algorithm"].iloc[0] == "powr"
        assert table["seeds"].iloc[0] == 2
        assert table["mean"].iloc[0] == 0.75


class TestArrivals:
    def times(self, tables, environment, algorithm, threshold):
        rows = arrivals.select(tables["runs.csv"], environment, algorithm, threshold)
        assert rows["seed"].tolist() == [0, 1, 2]
        return arrivals.as_times(rows[arrivals.FIRST]).tolist()

    def test_a_tie_with_the_threshold_reaches_it(self, tables):
        assert self.times(tables, "FrozenLake-v1", "powr", 0.8) == [1000, 100, 5000]

    def test_each_threshold_counts_by_itself(self, tables):
        assert self.times(tables, "MountainCar-v0", "powr", -110) == [1000, 100, 100]
        assert self.times(tables, "MountainCar-v0", "powr", -100) == [math.inf, math.inf, 100]

    def test_never_is_an_empty_cell_and_others_are_whole_numbers(self, results):
        text = aggregate.aggregate(STUDY, "tiny", results, partial=False)["runs.csv"]
        assert "FrozenLake-v1,dqn,deterministic,0,0.8,5000,,\n" in text
        assert "FrozenLake-v1,dqn,deterministic,1,0.8,5000,5000,5000\n" in text


class TestSummary:
    def row(self, tables, environment, algorithm, policy="deterministic", threshold=None):
        table = tables["summary.csv"]
        rows = table[
            (table["environment"] == environment)
            & (table["algorithm"] == algorithm)
            & (table["policy"] == policy)
        ]
        if threshold is not None:
            rows = rows[rows["threshold"] == threshold]
        assert len(rows) == 1
        return rows.iloc[0]

    def test_censored_times(self, tables):
        row = self.row(tables, "FrozenLake-v1", "dqn")
        assert row["n_reached"] == 1
        assert row["earliest"] == 5000
        assert row[["timesteps_to_threshold", "latest"]].isna().all()

    def test_final_returns(self, tables):
        row = self.row(tables, "FrozenLake-v1", "powr")
        assert row["final_mean"] == pytest.approx(2.9 / 3)
        assert (row["final_min"], row["final_max"]) == (0.9, 1.0)

    def test_sampled_policy_of_powr_has_rows_of_its_own(self, tables):
        row = self.row(tables, "FrozenLake-v1", "powr", policy="sampled")
        assert row["final_mean"] == pytest.approx((0.0 + 1.0 + 0.5) / 3)
        assert row["n_reached"] == 1
        assert set(tables["summary.csv"].query("algorithm == 'dqn'")["policy"]) == {"deterministic"}

    def test_scores_against_optimum_and_uniform_policy(self, tables):
        row = self.row(tables, "FrozenLake-v1", "powr")
        assert row["optimum"] == 1
        assert 0 < row["uniform"] < 0.05
        expected = (2.9 / 3 - row["uniform"]) / (1 - row["uniform"])
        assert row["normalised_iqm"] == pytest.approx(expected)

    def test_without_transition_table_there_is_no_exact_return(self, tables):
        row = self.row(tables, "MountainCar-v0", "powr", threshold=-110)
        assert row[["optimum", "exact_mean", "normalised_iqm"]].isna().all()

    @pytest.mark.parametrize(("seeds", "enough"), [(5, False), (6, True)])
    def test_bootstrap_intervals_need_six_seeds(self, seeds, enough):
        runs = pd.DataFrame(
            {"environment": "E", "algorithm": "dqn", "seed": seed, "timestep": timestep}
            | {"mean": seed, "exact_return": seed, "sampled_mean": math.nan}
            for seed in range(seeds)
            for timestep in (100, 1000)
        )
        planned = Planned("E", "dqn", 7, [100, 1000])
        table = summarise(
            runs, arrivals.tabulate(runs, {"E": [0]}), [planned], {"E": [0]}, {"E": Bounds(0, 10)}
        )
        row = table.iloc[0]
        for name in ("final_iqm", "normalised_iqm", "area_iqm"):
            assert row[name] > 0
            assert (row[f"{name}_low"] < row[name] < row[f"{name}_high"]) == enough
        head, cells = summary_page.returns(table)
        shown = dict(zip(head, cells, strict=True))
        assert all(
            ("[" in shown[name]) == enough for name in ("IQM", "score", "area from 100 to 1,000")
        )

    def test_areas_begin_after_the_last_first_update_and_end_with_the_shortest_budget(self, tables):
        row = self.row(tables, "MountainCar-v0", "dqn", threshold=-110)
        assert (row["area_from"], row["area_until"]) == (1000, 1000)
        assert self.row(tables, "FrozenLake-v1", "dqn")["area_until"] == 5000

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
        runs = pd.DataFrame(
            {"environment": "E", "algorithm": planned.algorithm, "seed": 0, "timestep": timestep}
            | {"mean": 1.0, "exact_return": math.nan, "sampled_mean": math.nan}
            for planned in plan
            for timestep in planned.timesteps
        )
        arrived = arrivals.tabulate(runs, {"E": [0]})
        table = summarise(runs, arrived, plan, {"E": [0]}, {"E": Bounds()})
        areas = dict(zip(table["algorithm"], table["area_iqm"], strict=True))
        assert areas["powr"] == areas["dqn"] == 1
        assert math.isnan(areas["rmax"])
        assert math.isnan(areas["a2c"])
        shown = {cells[0]: cells[-1] for cells in summary_page.returns(table)}
        assert shown["R-max"] == "none"

    def test_page_shows_every_environment_and_origin(self, results):
        other = {**PROVENANCE, "python": "3.11.2", "packages": {"numpy": "2.4.5"}}
        run = run_of("MountainCar-v0", "dqn", 2)
        write_run(results, run, (results / run.path).read_text(), provenance=other)
        page = aggregate.aggregate(STUDY, "tiny", results, partial=False)["summary.md"]
        assert "12 of 12 runs" in page
        assert "| DQN | 0.8 | 1 of 3 | > 5,000 | 5,000 .. > 5,000 |" in page
        assert "| DQN | -110 | 0 of 3 | never | never within 5,000 |" in page
        assert "| POWR (sampled) |" in page
        assert "| 11 | 0123456789ab | 3.11.9 | Linux x86_64 | a processor | numpy 2.4.6 |" in page
        assert "| 1 | 0123456789ab | 3.11.2 | Linux x86_64 | a processor | numpy 2.4.5 |" in page


class TestMissingRuns:
    def test_each_missing_run_is_named(self, results):
        remove(results, "FrozenLake-v1", "powr", 1, 2)
        with pytest.raises(SuiteError) as caught:
            load_runs(STUDY, "tiny", results, partial=False)
        assert "2 of 12 runs are missing" in str(caught.value)
        for seed in (1, 2):
            assert str(run_of("FrozenLake-v1", "powr", seed).path) in str(caught.value)

    def test_partial_counts_them(self, results):
        remove(results, "FrozenLake-v1", "powr", 0, 1, 2)
        remove(results, "MountainCar-v0", "dqn", 1)
        files = aggregate.aggregate(STUDY, "tiny", results, partial=True)
        summary = pd.read_csv(io.StringIO(files["summary.csv"]))
        seeds = summary.groupby(["environment", "algorithm"])["seeds"].max()
        assert seeds["FrozenLake-v1", "powr"] == 0
        assert seeds["MountainCar-v0", "dqn"] == 2
        assert set(summary["seeds_planned"]) == {3}
        assert "8 of 12 runs" in files["summary.md"]
        assert str(run_of("FrozenLake-v1", "powr", 0).path) in files["summary.md"]

    def test_overview_counts_the_runs_there_are(self, results):
        remove(results, "FrozenLake-v1", "powr", 0, 1, 2)
        remove(results, "MountainCar-v0", "dqn", 1)
        page = aggregate.aggregate(STUDY, "tiny", results, partial=True)["summary.md"]
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
        before = aggregate.aggregate(STUDY, "tiny", results, partial=False)
        good = results / run_of("FrozenLake-v1", "powr", 0).path
        good.with_name("seed0-000000000000.csv").write_text("stale")
        good.with_name("seed10-" + good.name.split("-")[1]).write_text("beyond the seeds")
        assert aggregate.aggregate(STUDY, "tiny", results, partial=False) == before


def test_rebuilding_gives_the_same_bytes(results):
    first = aggregate.aggregate(STUDY, "tiny", results, partial=False)
    assert aggregate.aggregate(STUDY, "tiny", results, partial=False) == first


def test_plan_follows_the_study():
    planned = {(pair.environment, pair.algorithm): pair for pair in plan(STUDY, "tiny")}
    assert list(planned) == list(MEANS)
    assert planned["MountainCar-v0", "powr"].timesteps == [100, 1000]
    assert planned["MountainCar-v0", "dqn"].timesteps == [100, 1000, 5000]


def test_taxi_cannot_be_solved_to_its_registered_threshold():
    assert exact_bounds({"id": "Taxi-v3", "kwargs": {}}).optimum == pytest.approx(7.93, abs=0.005)


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def study(self, monkeypatch):
        monkeypatch.setattr(config, "load", lambda path: STUDY)

    def test_writes_its_files_and_leaves_nothing_aside(self, results, tmp_path):
        out = tmp_path / "out"
        options = ["--scale", "tiny", "--results", str(results), "--out-dir", str(out)]
        assert aggregate.main(options) == 0
        names = ["curves.csv", "runs.csv", "summary.csv", "summary.md"]
        assert sorted(path.name for path in out.iterdir()) == names

    def test_a_fault_is_one_message_and_no_output(self, results, capsys):
        path = results / run_of("FrozenLake-v1", "powr", 0).path
        path.write_text(path.read_text()[:-5])
        assert aggregate.main(["--scale", "tiny", "--results", str(results)]) == 1
        message = capsys.readouterr().err
        assert message.startswith("python -m suite aggregate: ")
        assert str(path) in message
        assert not (results / "tiny" / "curves.csv").exists()


@pytest.mark.parametrize(
    ("algorithm", "timesteps"),
    [
        ({"class": "ppo", "settings": {}}, 2048),
        ({"class": "trpo", "settings": {"n_envs": 8, "n_steps": 1024}}, 8192),
        ({"class": "a2c", "settings": {"n_envs": 16}}, 80),
        ({"class": "dqn", "settings": {"learning_starts": 1000, "n_envs": 4}}, 1000),
        ({"class": "powr", "settings": {}}, 0),
    ],
)
def test_first_update(algorithm, timesteps):
    assert aggregate.first_update(algorithm) == timesteps
