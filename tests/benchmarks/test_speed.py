"""The speed benchmarks: that they run, and that what they compare is the same; never how fast."""

import csv
import json

import numpy as np
import pytest

from benchmarks import mountain_car, speed
from powr.kernels import Gaussian


@pytest.mark.parametrize("name", speed.BENCHMARKS)
def test_each_benchmark_runs_anywhere_and_leaves_its_table(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    speed.main(["--quick", "--repeats", "1", "--only", name, "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.csv", "machine.json"}
    printed = capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").open(encoding="utf-8")))
    columns = {column.removesuffix(" min").removesuffix(" max") for column in rows[0]}
    assert all(column in printed for column in columns)
    machine = json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))
    assert {pool["num_threads"] for pool in machine["thread_pools"]} == {1}
    for row in rows:
        if name == "printed-algorithm" and "Exponential" not in row["kernel"]:
            assert float(row["off Algorithm 1"]) <= 1e-6, row


def test_the_algebra_is_that_of_the_literal_algorithm():
    data, kernel = mountain_car.explore(60), Gaussian(speed.SMOOTH)
    at_next_states = kernel(data.next_states, data.states)
    by_algebra = at_next_states @ speed.algebra(kernel, data)
    by_loops = at_next_states @ speed.loop_by_loop(data)
    np.testing.assert_allclose(by_algebra, by_loops, rtol=1e-6, atol=1e-6)
