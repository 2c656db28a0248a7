"""The long run: what its table says of the time and memory of an agent; never how much it was."""

import csv

import pytest

from benchmarks import long_run


def point(timesteps, cpu_seconds):
    return {
        "timesteps": timesteps,
        "cpu_seconds": cpu_seconds,
        "resident_bytes": 2**20,
        "peak_bytes": 2**21,
        "plans": 10,
    }


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_the_exponent_is_that_of_the_time_per_timestep(power):
    points = [point(n, 3.0 + 1e-3 * n**power) for n in (100, 200, 400, 800)]
    first, *others = long_run.stretches("Taxi-v3", points)
    assert first["exponent"] is None
    assert [row["exponent"] for row in others] == pytest.approx([power - 1] * 2)
    assert first["CPU s per 1,000"] == pytest.approx(10 * (200**power - 100**power) * 1e-3)


def test_it_runs_and_leaves_its_table(tmp_path, capsys):
    long_run.main(["--timesteps", "640", "--env", "FrozenLake-v1", "--out", str(tmp_path)])
    with (tmp_path / "long-run.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["timesteps"]) for row in rows] == [20, 40, 80, 160, 320, 640]
    assert all(float(row["resident MiB"]) <= float(row["peak MiB"]) for row in rows)
    assert "FrozenLake-v1" in capsys.readouterr().out
