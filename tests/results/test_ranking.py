"""ladder.csv of hand-written clocks: arrivals, and seconds by CPU or clock."""

import math

import pytest

from suite.results import aggregate, ladder
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
def table(tmp_path_factory):
    """POWR takes 0.1 s per timestep and DQN 0.01 s, an evaluation takes 2 s."""
    results = tmp_path_factory.mktemp("results")
    for seed, means in enumerate((EARLY, EARLY, LATE)):
        run = run_of("FrozenLake-v1", "powr", seed)
        write_run(results, run, csv_text(means), **with_cpu(clock(means, 0.1, 2.0)))
    for seed, means in enumerate((LATE, NEVER, NEVER)):
        run = run_of("FrozenLake-v1", "dqn", seed)
        write_run(results, run, csv_text(means), **clock(means, 0.01, 2.0))
    for name, text in aggregate.aggregate(STUDY, "tiny", results, partial=True).items():
        (results / "tiny" / name).write_text(text)
    return ladder.ladder(STUDY, "tiny", results)


@pytest.fixture(scope="module")
def rows(table):
    key = ["environment", "algorithm", "policy"]
    return {tuple(row[name] for name in key): row for row in table.to_dict("records")}


def test_times_over_seeds(rows):
    powr = rows["FrozenLake-v1", "powr", "deterministic"]
    assert (powr["earliest"], powr["median"], powr["latest"]) == (1000, 1000, 5000)
    assert (powr["n_reached"], powr["seeds"], powr["seeds_planned"]) == (3, 3, 3)
    assert powr["kind"] == "the paper's POWR"
    assert rows["FrozenLake-v1", "powr", "sampled"]["seeds"] == 0
    dqn = rows["FrozenLake-v1", "dqn", "deterministic"]
    assert (dqn["n_reached"], dqn["earliest"]) == (1, 5000)
    assert all(math.isnan(dqn[key]) for key in ("median", "latest", "seconds_to_threshold"))
    car = rows["MountainCar-v0", "dqn", "deterministic"]
    assert car["seeds"] == 0
    assert ("MountainCar-v0", "dqn", "sampled") not in rows


def test_seconds_leave_out_evaluations_and_by_cpu_the_start_of_python(rows):
    """10 s by the clock until the first evaluation at 100, then half of what the clock says."""
    dqn, powr = (rows["FrozenLake-v1", name, "deterministic"] for name in ("dqn", "powr"))
    assert (dqn["measured_by"], dqn["seconds_in_all"]) == (ladder.CLOCK, pytest.approx(50))
    assert powr["measured_by"] == ladder.CPU
    assert powr["seconds_to_threshold"] == pytest.approx(10 + 45)
    assert powr["seconds_in_all"] == pytest.approx(10 + 245)
