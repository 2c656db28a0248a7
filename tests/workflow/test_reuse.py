"""Finished runs are reused by their names alone: on fresh clones, whatever file times say."""

import os
import random
import shutil

import pytest

from tests.workflow.repository import Job, Repository, trained

pytestmark = pytest.mark.workflow


def shuffle_times(repository, seed):
    """Give every file a time of its own within the last month, in random order."""
    files = [path for path in repository.folder.rglob("*") if ".git" not in path.parts]
    rng = random.Random(seed)  # noqa: S311
    for path in files:
        if path.is_file():
            time = 1_700_000_000 + rng.randrange(30 * 24 * 3600)
            os.utime(path, (time, time))


@pytest.fixture(params=["clone", "used folder"])
def repository(request, first_run, clone, tmp_path):
    """Without and with snakemake's own records of the first run."""
    if request.param == "clone":
        return clone
    origin, _ = first_run
    shutil.copytree(origin.folder, tmp_path / "used", symlinks=True)
    return Repository(tmp_path / "used")


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_trained_again(repository, seed):
    shuffle_times(repository, seed)
    assert trained(repository.planned()) == set()


def test_nothing_at_all_runs_where_nothing_changed(first_run):
    repository, _ = first_run
    assert repository.planned() == []


def set_step_size(study):
    study["algorithms"]["powr-bold"]["settings"]["step_size"] = 3.0


def set_step_size_on_taxi(study):
    study["algorithms"]["powr-bold"]["environments"] = {"Taxi-v3": {"step_size": 3.0}}


def raise_revision(study):
    study["algorithms"]["powr"]["revision"] += 1


def lengthen_taxi(study):
    study["scales"]["tiny"]["timesteps"]["Taxi-v3"] = 160


def add_seed(study):
    study["scales"]["tiny"]["seeds"] = 3


def change_threshold(study):
    study["environments"]["Taxi-v3"]["thresholds"] = [5]


def drop_algorithm(study):
    study["scales"]["tiny"]["algorithms"] = ["powr"]


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        (set_step_size, lambda job: job.algorithm == "powr-bold" and job.seed < 2),
        (
            set_step_size_on_taxi,
            lambda job: job[1:3] == ("Taxi-v3", "powr-bold") and job.seed < 2,
        ),
        (raise_revision, lambda job: job.algorithm == "powr" and job.seed < 2),
        (lengthen_taxi, lambda job: job.environment == "Taxi-v3" and job.seed < 2),
        (add_seed, lambda job: job.seed == 2),
        (change_threshold, lambda job: False),
        (drop_algorithm, lambda job: False),
    ],
)
def test_a_change_trains_exactly_the_runs_it_touches(repository, change, touched):
    shuffle_times(repository, seed=1)
    repository.edit_study(change)
    planned = repository.planned()
    everything = {
        (environment, algorithm, seed)
        for environment in ("FrozenLake-v1", "Taxi-v3")
        for algorithm in ("powr", "powr-bold")
        for seed in range(3)
    }
    expected = {run for run in everything if touched(Job("train_powr", *run))}
    assert {job[1:] for job in trained(planned)} == expected
    assert "aggregate" in {job.rule for job in planned}


@pytest.mark.parametrize(
    "name", ["suite/results/aggregate.py", "suite/results/statistics.py", "powr/tabular.py"]
)
def test_new_code_of_the_tables_makes_them_anew_and_trains_nothing(repository, name):
    append_comment(repository.folder / name)
    planned = repository.planned()
    assert trained(planned) == set()
    made = {"aggregate", "training_curves", "threshold_boxplots", "claims"}
    assert made <= {job.rule for job in planned}


def test_new_code_of_a_figure_trains_nothing(repository):
    append_comment(repository.folder / "suite" / "plots" / "curves.py")
    planned = repository.planned()
    assert trained(planned) == set()
    assert "training_curves" in {job.rule for job in planned}


def test_new_code_of_training_trains_nothing(repository):
    """Its author says by `revision` whether it changes results."""
    append_comment(repository.folder / "suite" / "training" / "run.py")
    append_comment(repository.folder / "environment.yml")
    assert trained(repository.planned()) == set()


def append_comment(path):
    with path.open("a") as file:
        file.write("# changed\n")


def test_stale_run_files_are_never_read(clone):
    for path in clone.folder.glob("results/tiny/*/*/seed?-*.csv"):
        path.with_name("seed0-000000000000.csv").write_text("of other settings\n")
    before = {path: path.read_bytes() for path in clone.folder.glob("results/tiny/*.csv")}
    assert {"curves.csv", "thresholds.csv", "summary.csv"} <= {path.name for path in before}
    for path in before:
        path.unlink()
    done = clone.snakemake()
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_tables_and_figures_made_again_are_the_same_bytes(clone):
    shuffle_times(clone, seed=2)
    (clone.folder / "results/tiny/curves.csv").unlink()
    done = clone.snakemake()
    assert done.returncode == 0, done.stderr
    assert clone.git("status", "--porcelain", "--", "results").strip() == ""
