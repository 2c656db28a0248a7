"""The cost table of hand-written clocks."""

import json

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.results import aggregate, cost
from tests.support.run_files import STUDY, clock, csv_text, run_of, write_run

HEAD = "s\th:m:s\tmax_rss\tcpu_time\n"


def write(results, algorithm, seed, means, seconds_a_step, memory=100_000_000):
    spent = {**clock(means, seconds_a_step, 2.0), "peak_memory_bytes": memory}
    run = run_of("FrozenLake-v1", algorithm, seed)
    return write_run(results, run, csv_text(means), **spent)


@pytest.fixture
def results(tmp_path):
    """A timestep takes POWR 0.1 s and DQN 0.01 s, an evaluation takes 2 s."""
    early, late = {100: 0.0, 1000: 0.9, 5000: 0.9}, {100: 0.0, 1000: 0.0, 5000: 0.8}
    never = {100: 0.0, 1000: 0.0, 5000: 0.0}
    for seed, means in enumerate((early, early, late)):
        write(tmp_path, "powr", seed, means, 0.1, memory=(1 + seed) * 50_000_000)
    for seed, means in enumerate((late, never, never)):
        write(tmp_path, "dqn", seed, means, 0.01)
    return tmp_path


def write_tables(results):
    """Those of the runs that are there."""
    (results / "tiny").mkdir(exist_ok=True)
    for name, text in aggregate.aggregate(STUDY, "tiny", results, partial=True).items():
        (results / "tiny" / name).write_text(text)


def row(results, algorithm, environment="FrozenLake-v1"):
    write_tables(results)
    table = cost.cost_table(STUDY, "tiny", results)
    rows = table[(table["environment"] == environment) & (table["algorithm"] == algorithm)]
    assert len(rows) == 1
    return rows.iloc[0]


def write_benchmark(results, algorithm, seed, text):
    path = results / run_of("FrozenLake-v1", algorithm, seed).path
    path.with_suffix(".benchmark.tsv").write_text(text)


def test_speed_is_that_of_training_alone(results):
    assert row(results, "powr")["timesteps_per_second"] == pytest.approx(10)
    assert row(results, "dqn")["timesteps_per_second"] == pytest.approx(100)


def test_share_of_the_evaluations(results):
    assert row(results, "dqn")["evaluation_share"] == pytest.approx(6 / 56)


def test_wall_hours_are_those_of_all_runs(results):
    assert row(results, "powr")["wall_hours"] == pytest.approx(3 * 506 / 3600)


def test_peak_memory_is_that_of_the_largest_run(results):
    assert row(results, "powr")["peak_memory_mb"] == pytest.approx(150)


def test_time_to_threshold_beside_timesteps_to_threshold(results):
    found = row(results, "powr")
    assert (found["n_reached"], found["timesteps_to_threshold"]) == (3, 1000)
    assert found["seconds_to_threshold"] == pytest.approx(100)


def test_runs_that_never_arrive_are_later_than_all(results):
    found = row(results, "dqn")
    assert found["n_reached"] == 1
    assert found[["timesteps_to_threshold", "seconds_to_threshold"]].isna().all()


class TestBenchmarkFile:
    def test_counts_where_it_exists(self, results):
        assert row(results, "powr")["time_source"] == "run JSON"
        for seed in range(3):
            write_benchmark(results, "powr", seed, HEAD + "720.00\t0:12:00\tNA\tNA\n")
        found = row(results, "powr")
        assert found["time_source"] == "benchmark"
        assert found["wall_hours"] == pytest.approx(0.6)

    def test_of_some_runs_is_said(self, results):
        write_benchmark(results, "powr", 1, HEAD + "720.00\t0:12:00\t1\t1\n")
        found = row(results, "powr")
        assert found["time_source"] == "benchmark of 1 and run JSON of 2"
        assert found["wall_hours"] == pytest.approx((720 + 2 * 506) / 3600)

    @pytest.mark.parametrize(
        "text", ["", HEAD, "no\tbenchmark\n1\t2\n", HEAD + "fast\t\t\t\n", HEAD + "NA\t\t\t\n"]
    )
    def test_that_is_none_is_named(self, results, text):
        write_benchmark(results, "powr", 1, text)
        with pytest.raises(SuiteError, match=r"seed1-\w+\.benchmark\.tsv: is not a bench"):
            cost.cost_table(STUDY, "tiny", results)


@pytest.mark.parametrize("key", ["evaluations", "duration_seconds", "peak_memory_bytes"])
def test_a_json_without_times_is_named(results, key):
    path = (results / run_of("FrozenLake-v1", "dqn", 2).path).with_suffix(".json")
    document = json.loads(path.read_text())
    del document[key]
    path.write_text(json.dumps(document))
    with pytest.raises(SuiteError, match="does not tell what the run took"):
        cost.cost_table(STUDY, "tiny", results)


def test_clocks_of_other_timesteps_are_refused(results):
    path = (results / run_of("FrozenLake-v1", "dqn", 2).path).with_suffix(".json")
    path.write_text(path.read_text().replace('"timestep": 1000', '"timestep": 1001'))
    with pytest.raises(SuiteError, match="does not tell what the run took"):
        cost.cost_table(STUDY, "tiny", results)


class TestText:
    def rows(self, results, environment="FrozenLake-v1"):
        write_tables(results)
        table = cost.cost_table(STUDY, "tiny", results)
        head, *rows = cost.as_text(table[table["environment"] == environment])
        return [dict(zip(head, cells, strict=True)) for cells in rows]

    def test_says_what_never_arrived(self, results):
        powr, dqn = self.rows(results)
        assert powr["median training time"] == "2 min"
        assert (dqn["reached"], dqn["median timesteps"]) == ("1 of 3", "> 5,000")
        assert dqn["median training time"] == "not within training"

    def test_says_what_is_missing(self, results):
        for row in self.rows(results, "MountainCar-v0"):
            assert set(row.values()) - {"POWR", "DQN"} == {"no run"}

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0.04, "0.04 s"),
            (12.34, "12 s"),
            (90, "2 min"),
            (3599, "1 h 00 min"),
            (7500, "2 h 05 min"),
        ],
    )
    def test_durations(self, seconds, text):
        assert cost.duration_text(seconds) == text


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def study(self, monkeypatch):
        monkeypatch.setattr(config, "load", lambda path: STUDY)

    def test_writes_the_table(self, results):
        write_tables(results)
        assert cost.main(["--scale", "tiny", "--results", str(results)]) == 0
        table = pd.read_csv(results / "tiny" / "cost.csv")
        assert table["runs"].tolist() == [3, 3, 0, 0]

    def test_a_fault_is_one_message_and_no_output(self, results, capsys):
        write_benchmark(results, "powr", 1, "")
        assert cost.main(["--scale", "tiny", "--results", str(results)]) == 1
        assert capsys.readouterr().err.startswith("python -m suite cost: ")
        assert not (results / "tiny" / "cost.csv").exists()
