"""The speed benchmarks: that they run, and that what they compare is the same; never how fast."""

import csv
import json

import numpy as np
import pytest

from benchmarks import growth, measure, mountain_car, printed_algorithm, speed, tabular
from benchmarks import targets as figures_to_reach
from benchmarks.measure import Spread
from benchmarks.table import Table, publish
from suite.training import provenance

OUTCOMES = {
    "printed-algorithm": {"printed-algorithm.csv", "agreement.csv"},
    "growth": {"growth.csv", "growth-exponents.csv", "growth.pdf", "growth.svg", "growth.png"},
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
        targets = [target for target in figures_to_reach.TARGETS if target.table == path.stem]
        assert all({*target.row, target.column} <= columns for target in targets)
    machine = json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))
    assert machine["cpu"] in printed
    assert {pool["num_threads"] for pool in machine["thread_pools"]} == {1}


def test_fast_solvers_agree_with_the_printed_algorithm():
    _, agreement = printed_algorithm.tables(quick=True, repeats=1)
    exact = [row for row in agreement.rows if (row["tolerance"] or 0) <= 1e-10]
    assert len(exact) == 4 * len(printed_algorithm.QUICK_SIZES)
    for row in exact:
        assert max(row["off Algorithm 1"], row["off solve"]) <= 1e-6, row


def test_the_algebra_is_that_of_the_literal_algorithm():
    data = mountain_car.explore(60)
    kernel = printed_algorithm.CASES[0][0].kernel
    at_next_states = kernel(data.next_states, data.states)
    by_algebra = at_next_states @ printed_algorithm.algebra(kernel, data)
    by_loops = at_next_states @ printed_algorithm.loop_by_loop(data)
    np.testing.assert_allclose(by_algebra, by_loops, rtol=1e-6, atol=1e-6)


def test_errors_are_relative_to_the_largest_action_value_of_each_state():
    truth = np.array([[100.0, 1.0], [1.0, 0.5]])
    q = truth + np.array([[1.0, 0.0], [0.0, 0.1]])
    np.testing.assert_allclose(printed_algorithm.errors(q, truth), [0.01, 0.1])


def test_data_are_the_same_each_time_and_hardly_repeat():
    many, few = mountain_car.explore(3000), mountain_car.explore(1000)
    for column, beginning in zip(many, few, strict=True):
        np.testing.assert_array_equal(column[:1000], beginning)
    assert len(np.unique(many.states, axis=0)) > 0.95 * len(many.states)
    assert set(many.actions) == {0, 1, 2}
    assert many.terminated.any()


def test_exponent_of_a_power_law_is_its_power():
    rows = [{"n": n, "seconds": Spread.of([3 * n**1.5])} for n in growth.SIZES]
    assert growth.exponent(rows, "seconds") == pytest.approx(1.5)


def test_memory_of_a_point_is_not_that_of_the_process_that_starts_it(tmp_path):
    ballast = np.ones(2**26)  # 512 MiB
    data = tmp_path / "data.npz"
    np.savez(data, **mountain_car.explore(300)._asdict())
    point = measure.in_own_process(growth.POINT, str(data), 300, 50, 1)
    assert provenance.peak_memory_bytes() > ballast.nbytes > growth.MIB * point["peak MiB"]
    assert point["peak MiB"] > point["MiB above base"] >= 0
    assert point["rank"] == 50


def test_tasks_take_turns_and_are_compared_round_by_round():
    calls = []
    timings = measure.in_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b", "a", "b"]
    assert [len(seconds) for seconds, _ in timings.values()] == [2, 2]
    assert measure.ratios([10.0, 60.0, 40.0], [1.0, 2.0, 2.0]) == Spread(20.0, 10.0, 30.0)


def test_clocking_costs_more_a_call_than_is_counted_inside():
    call, inside = tabular.cost_of_clocking()
    assert call > inside > 0


def test_csv_keeps_every_digit_and_the_spread():
    table = Table("t", "?", [{"n": 1000, "seconds": Spread(1 / 3, 0.1, 0.5), "none": None}])
    assert table.csv() == (
        "n,seconds,seconds min,seconds max,none\n1000,0.3333333333333333,0.1,0.5,\n"
    )
    assert "1,000  0.333 (0.1 to 0.5)  -" in table.text()


def test_targets_are_judged_by_the_medians_that_were_written(tmp_path):
    assert figures_to_reach.judge(tmp_path) is None
    rows = [
        {"environment": "FrozenLake-v1", "share": Spread(0.5, 0.1, 0.9)},
        {"environment": "Taxi-v3", "share": Spread(0.33, 0.1, 0.9)},
    ]
    publish(Table("overhead", "?", rows), tmp_path)
    assert [row["met"] for row in figures_to_reach.judge(tmp_path).rows] == ["yes", "no"]


def test_repeats_must_be_a_positive_number(capsys):
    with pytest.raises(SystemExit):
        speed.main(["--repeats", "0"])
    assert "must be a whole number of at least 1" in capsys.readouterr().err
