"""ranking.csv and cost.csv of hand-written clocks: arrivals, and seconds by CPU or clock."""

import io
import math

import pandas as pd
import pytest

from suite.results import aggregate, ranking
from tests.support.run_files import STUDY, clock, csv_text, run_of, write_run

EARLY, LATE = {100: 0.0, 1000: 0.9, 5000: 0.9}, {100: 0.0, 1000: 0.0, 5000: 0.8}
NEVER = {100: 0.0, 1000: 0.0, 5000: 0.0}


def with_cpu(spent):
    """The CPU worked for half of the time, after 3 s for the start of Python."""
    for entry in spent["evaluations"]:
        entry["cpu_seconds"] = 3 + entry["seconds"] / 2
        entry["evaluation_cpu_seconds"] = entry["evaluation_seconds"] / 2
    return spent


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """POWR takes 0.1 s per timestep and DQN 0.01 s, an evaluation takes 2 s."""
    results = tmp_path_factory.mktemp("results")
    for seed, means in enumerate((EARLY, EARLY, LATE)):
        spent = {**with_cpu(clock(means, 0.1, 2.0)), "peak_memory_bytes": (1 + seed) * 50_000_000}
        write_run(results, run_of("FrozenLake-v1", "powr", seed), csv_text(means), **spent)
    for seed, means in enumerate((LATE, NEVER, NEVER)):
        run = run_of("FrozenLake-v1", "dqn", seed)
        write_run(results, run, csv_text(means), **clock(means, 0.01, 2.0))
    files = aggregate.aggregate(STUDY, "tiny", results, partial=True)
    return {name: pd.read_csv(io.StringIO(files[f"{name}.csv"])) for name in ("ranking", "cost")}


@pytest.fixture(scope="module")
def rows(tables):
    key = ["environment", "algorithm", "policy"]
    return {tuple(row[name] for name in key): row for row in tables["ranking"].to_dict("records")}


def test_times_over_seeds(rows):
    powr = rows["FrozenLake-v1", "powr", "deterministic"]
    assert (powr["earliest"], powr["median"], powr["latest"]) == (1000, 1000, 5000)
    assert (powr["n_reached"], powr["seeds"], powr["seeds_planned"]) == (3, 3, 3)
    assert powr["kind"] == "the paper's POWR"
    assert ("FrozenLake-v1", "powr", "sampled") not in rows  # its runs record none here
    dqn = rows["FrozenLake-v1", "dqn", "deterministic"]
    assert (dqn["n_reached"], dqn["earliest"]) == (1, 5000)
    assert all(math.isnan(dqn[key]) for key in ("median", "latest", "seconds_to_threshold"))
    car = rows["MountainCar-v0", "dqn", "deterministic"]
    assert car["seeds"] == 0
    assert ("MountainCar-v0", "dqn", "sampled") not in rows


def test_seconds_leave_out_evaluations_and_by_cpu_the_start_of_python(rows):
    """10 s by the clock until the first evaluation at 100, then half of what the clock says."""
    dqn, powr = (rows["FrozenLake-v1", name, "deterministic"] for name in ("dqn", "powr"))
    assert (dqn["measured_by"], dqn["seconds_in_all"]) == (ranking.CLOCK, pytest.approx(50))
    assert powr["measured_by"] == ranking.CPU
    assert powr["seconds_to_threshold"] == pytest.approx(10 + 45)
    assert powr["seconds_in_all"] == pytest.approx(10 + 245)


def test_evaluations_are_no_part_of_the_speed(tables):
    table = tables["cost"]
    assert table["runs"].tolist() == [3, 3, 0, 0]
    powr, dqn = (row for _, row in table[:2].iterrows())
    assert powr["timesteps_per_second"] == pytest.approx(10)
    assert dqn["timesteps_per_second"] == pytest.approx(100)
    assert dqn["evaluation_share"] == pytest.approx(6 / 56)
    assert powr["wall_hours"] == pytest.approx(3 * 506 / 3600)  # of all runs
    assert powr["peak_memory_mb"] == pytest.approx(150)  # of the largest
    head, *rows = ranking.cost_text(table)
    assert [len(row) for row in rows] == [len(head)] * 4
    assert rows[0] == ("POWR", "10", "0.422", "150 MB")
    assert set(rows[3]) == {"DQN", "no run"}
