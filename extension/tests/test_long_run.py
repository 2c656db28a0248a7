"""The long run leaves a row per doubling of the timesteps."""

import csv

import long_run


def test_the_long_run_leaves_its_table(tmp_path):
    path = tmp_path / "long-run.csv"
    long_run.main(["--timesteps", "640", "--env", "FrozenLake-v1", "--out", str(path)])
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [int(row["timesteps"]) for row in rows] == [10, 20, 40, 80, 160, 320, 640]
