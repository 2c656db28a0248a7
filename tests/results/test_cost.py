"""The cost table of hand-written clocks."""

import json

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.results import aggregate, cost
from tests.support.run_files import STUDY, clock, csv_text, run_of, write_run

HEAD = "s\th:m:s\tmax_rss\tcpu_time\n"


@pytest.fixture
def results(tmp_path):
    """A timestep takes POWR 0.1 s and DQN 0.01 s, an evaluation takes 2 s."""
    early, late, never = ((0.0, 0.9, 0.9), (0.0, 0.0, 0.8), (0.0, 0.0, 0.0))
    runs = {"powr": (0.1, (early, early, late)), "dqn": (0.01, (late, never, never))}
    for algorithm, (seconds, curves) in runs.items():
        for seed, curve in enumerate(curves):
            means = dict(zip((100, 1000, 5000), curve, strict=True))
            spent = {**clock(means, seconds, 2.0), "peak_memory_bytes": (1 + seed) * 50_000_000}
            write_run(tmp_path, run_of("FrozenLake-v1", algorithm, seed), csv_text(means), **spent)
    for name, text in aggregate.aggregate(STUDY, "tiny", tmp_path, partial=True).items():
        (tmp_path / "tiny" / name).write_text(text)
    return tmp_path


def row(results, algorithm):
    table = cost.cost_table(STUDY, "tiny", results).set_index(["environment", "algorithm"])
    return table.loc["FrozenLake-v1", algorithm]


def write_benchmark(results, seed, text):
    path = results / run_of("FrozenLake-v1", "powr", seed).path
    path.with_suffix(".benchmark.tsv").write_text(text)


def test_evaluations_are_no_part_of_the_speed(results):
    powr, dqn = row(results, "powr"), row(results, "dqn")
    assert powr["timesteps_per_second"] == pytest.approx(10)
    assert dqn["timesteps_per_second"] == pytest.approx(100)
    assert dqn["evaluation_share"] == pytest.approx(6 / 56)
    assert powr["wall_hours"] == pytest.approx(3 * 506 / 3600)  # of all runs
    assert powr["peak_memory_mb"] == pytest.approx(150)  # of the largest


def test_time_to_threshold_beside_timesteps_to_threshold(results):
    powr, dqn = row(results, "powr"), row(results, "dqn")
    assert (powr["n_reached"], powr["timesteps_to_threshold"]) == (3, 1000)
    assert powr["seconds_to_threshold"] == pytest.approx(100)
    assert dqn["n_reached"] == 1
    assert dqn[["timesteps_to_threshold", "seconds_to_threshold"]].isna().all()


def test_snakemakes_benchmark_counts_where_it_exists(results):
    assert row(results, "powr")["time_source"] == "run JSON"
    write_benchmark(results, 1, HEAD + "720.00\t0:12:00\tNA\tNA\n")
    found = row(results, "powr")
    assert found["time_source"] == "benchmark of 1 and run JSON of 2"
    assert found["wall_hours"] == pytest.approx((720 + 2 * 506) / 3600)


@pytest.mark.parametrize("text", ["", HEAD, "no\tbenchmark\n1\t2\n", HEAD + "NA\t\t\t\n"])
def test_a_file_that_is_no_benchmark_is_named(results, text, monkeypatch, capsys):
    write_benchmark(results, 1, text)
    monkeypatch.setattr(config, "load", lambda path: STUDY)
    assert cost.main(["--scale", "tiny", "--results", str(results)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("python -m suite cost: ")
    assert "seed1-" in message
    assert ".benchmark.tsv: is not a benchmark file" in message
    assert not (results / "tiny" / "cost.csv").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("evaluations"),
        lambda document: document.pop("duration_seconds"),
        lambda document: document.pop("peak_memory_bytes"),
        lambda document: document["evaluations"][1].update(timestep=1001),
    ],
)
def test_a_json_without_the_times_of_its_evaluations_is_named(results, change):
    path = (results / run_of("FrozenLake-v1", "dqn", 2).path).with_suffix(".json")
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(SuiteError, match="does not tell what the run took"):
        cost.cost_table(STUDY, "tiny", results)


def test_text_says_what_never_arrived_and_what_is_missing(results):
    table = cost.cost_table(STUDY, "tiny", results)
    head, *rows = cost.as_text(table)
    powr, dqn, *missing = (dict(zip(head, cells, strict=True)) for cells in rows)
    assert powr["median training time"] == "2 min"
    assert (dqn["reached"], dqn["median timesteps"]) == ("1 of 3", "> 5,000")
    assert dqn["median training time"] == "not within training"
    assert [set(each.values()) for each in missing] == [{"POWR", "no run"}, {"DQN", "no run"}]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.04 s"), (12.34, "12 s"), (90, "2 min"), (3599, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_durations(seconds, text):
    assert cost.duration_text(seconds) == text


def test_command_writes_the_table(results, monkeypatch):
    monkeypatch.setattr(config, "load", lambda path: STUDY)
    assert cost.main(["--scale", "tiny", "--results", str(results)]) == 0
    assert pd.read_csv(results / "tiny" / "cost.csv")["runs"].tolist() == [3, 3, 0, 0]
