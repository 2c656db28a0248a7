"""ladder.csv of hand-written clocks: arrivals, the floor, and seconds by CPU or clock."""

import math

import pytest

from suite.floor import Floor, floor
from suite.results import aggregate, ladder
from suite.results.ladder import CLOCK, CPU, read_training
from suite.results.run_file import RunFileError
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
def results(tmp_path_factory):
    """POWR takes 0.1 s per timestep and DQN 0.01 s, an evaluation takes 2 s."""
    tmp_path = tmp_path_factory.mktemp("results")
    for seed, means in enumerate((EARLY, EARLY, LATE)):
        run = run_of("FrozenLake-v1", "powr", seed)
        write_run(tmp_path, run, csv_text(means), **with_cpu(clock(means, 0.1, 2.0)))
    for seed, means in enumerate((LATE, NEVER, NEVER)):
        run = run_of("FrozenLake-v1", "dqn", seed)
        write_run(tmp_path, run, csv_text(means), **clock(means, 0.01, 2.0))
    (tmp_path / "tiny").mkdir(exist_ok=True)
    for name, text in aggregate.aggregate(STUDY, "tiny", tmp_path, partial=True).items():
        (tmp_path / "tiny" / name).write_text(text)
    return tmp_path


def floor_without_the_climb(env, threshold):
    """The floor of MountainCar-v0 takes many seconds; tests/test_floor.py has it."""
    return Floor(75, 83, "") if env.spec.id == "MountainCar-v0" else floor(env, threshold)


@pytest.fixture(scope="module")
def table(results):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "floor", floor_without_the_climb)
        return ladder.ladder(STUDY, "tiny", results)


@pytest.fixture(scope="module")
def rows(table):
    return {
        (row["environment"], row["algorithm"]): row
        for row in table[table["policy"] == "deterministic"].to_dict("records")
    }


def test_times_over_seeds_and_the_floor(rows):
    powr = rows["FrozenLake-v1", "powr"]
    assert (powr["earliest"], powr["median"], powr["latest"]) == (1000, 1000, 5000)
    assert (powr["n_reached"], powr["seeds"], powr["seeds_planned"]) == (3, 3, 3)
    assert (powr["floor_low"], powr["floor_high"]) == (6, 6)
    assert powr["kind"] == "the paper's POWR"


def test_never_is_an_empty_cell(rows):
    dqn = rows["FrozenLake-v1", "dqn"]
    assert (dqn["n_reached"], dqn["earliest"]) == (1, 5000)
    assert all(math.isnan(dqn[key]) for key in ("median", "latest", "seconds_to_threshold"))
    assert dqn["kind"] == "deep, library defaults"


def test_a_pair_without_runs_has_a_row(rows):
    car = rows["MountainCar-v0", "dqn"]
    assert (car["seeds"], car["floor_low"], car["floor_high"]) == (0, 75, 83)


def test_the_sampled_policy_of_powr_has_a_row(table):
    shown = table.groupby("algorithm")["policy"].unique()
    assert list(shown["powr"]) == ["deterministic", "sampled"]
    assert list(shown["dqn"]) == ["deterministic"]


def test_seconds_leave_out_evaluations_and_by_cpu_the_start_of_python(rows):
    """10 s by the clock until the first evaluation at 100, then half of what the clock says."""
    dqn, powr = (rows["FrozenLake-v1", name] for name in ("dqn", "powr"))
    assert (dqn["measured_by"], dqn["seconds_in_all"]) == (CLOCK, pytest.approx(50))
    assert powr["measured_by"] == CPU
    assert powr["seconds_to_threshold"] == pytest.approx(10 + 45)
    assert powr["seconds_in_all"] == pytest.approx(10 + 245)


def test_a_run_without_a_clock_is_one_message(tmp_path):
    with pytest.raises(RunFileError, match="does not tell what the run took"):
        read_training(tmp_path / "seed0.csv", {"evaluations": [{"timestep": 100}]})
