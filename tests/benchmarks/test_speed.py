"""The speed benchmarks: that they run, and that what they compare is the same; never how fast."""

import csv
import json

import numpy as np
import pytest

from benchmarks import long_run, measure, mountain_car, printed_algorithm, speed

OUTCOMES = {
    "printed-algorithm": {"printed-algorithm.csv"},
    "growth": {"growth.csv", "growth.pdf", "growth.svg", "growth.png"},
    "episode": {"episode.csv"},
    "june": {"june.csv", "million.csv"},
    "tabular": {"tabular.csv", "overhead.csv"},
}


@pytest.mark.parametrize("name", speed.BENCHMARKS)
def test_each_benchmark_runs_anywhere_and_leaves_its_tables(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    speed.main(["--quick", "--repeats", "1", "--only", name, "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == OUTCOMES[name] | {"machine.json"}
    printed = capsys.readouterr().out
    for path in tmp_path.glob("*.csv"):
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert rows
        columns = {column.removesuffix(" min").removesuffix(" max") for column in rows[0]}
        assert all(column in printed for column in columns)
    machine = json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))
    assert machine["cpu"] in printed
    assert {pool["num_threads"] for pool in machine["thread_pools"]} == {1}


def test_the_long_run_leaves_its_table(tmp_path, capsys):
    long_run.main(["--timesteps", "640", "--env", "FrozenLake-v1", "--out", str(tmp_path)])
    with (tmp_path / "long-run.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["timesteps"]) for row in rows] == [10, 20, 40, 80, 160, 320, 640]
    assert all(float(row["resident MiB"]) <= float(row["peak MiB"]) for row in rows)
    assert "FrozenLake-v1" in capsys.readouterr().out


def test_fast_solvers_agree_with_the_printed_algorithm():
    (table,) = printed_algorithm.tables(quick=True, repeats=1)
    exact = [row for row in table.rows if (row["tolerance"] or 0) <= 1e-10]
    assert len(exact) == 4 * len(printed_algorithm.QUICK_SIZES)
    for row in exact:
        assert row["off Algorithm 1"] <= 1e-6, row


def test_the_algebra_is_that_of_the_literal_algorithm():
    data = mountain_car.explore(60)
    kernel = printed_algorithm.CASES[0][0].kernel
    at_next_states = kernel(data.next_states, data.states)
    by_algebra = at_next_states @ printed_algorithm.algebra(kernel, data)
    by_loops = at_next_states @ printed_algorithm.loop_by_loop(data)
    np.testing.assert_allclose(by_algebra, by_loops, rtol=1e-6, atol=1e-6)


def test_tasks_take_turns_and_are_compared_round_by_round():
    calls = []
    timings = measure.in_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b", "a", "b"]
    assert [len(seconds) for seconds, _ in timings.values()] == [2, 2]
    compared = measure.ratios("x", [10.0, 60.0, 40.0], [1.0, 2.0, 2.0])
    assert compared == {"x": 20.0, "x min": 10.0, "x max": 30.0}
