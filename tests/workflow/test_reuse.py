"""Finished runs are reused by their names alone: on fresh clones, whatever file times say."""

import os
import random
import shutil

import pytest

from tests.workflow.repository import Repository, jobs, trained

pytestmark = pytest.mark.workflow


def shuffle_times(repository, seed):
    """Give every file a time of its own within the last month, in random order."""
    files = [path for path in repository.folder.rglob("*") if ".git" not in path.parts]
    rng = random.Random(seed)  # noqa: S311
    for path in files:
        if path.is_file():
            time = 1_700_000_000 + rng.randrange(30 * 24 * 3600)
            os.utime(path, (time, time))


@pytest.fixture
def used(first_run, tmp_path):
    """A copy with snakemake's own records of the first run, which a clone has not."""
    origin, _ = first_run
    shutil.copytree(origin.folder, tmp_path / "used", symlinks=True)
    return Repository(tmp_path / "used")


def test_nothing_is_made_again(clone, used):
    assert used.planned() == []
    for repository in (clone, used):
        shuffle_times(repository, seed=0)
        assert trained(repository.planned()) == set()


def change_one_setting(study):
    study["algorithms"]["powr-bold"]["environments"] = {"Taxi-v3": {"step_size": 3.0}}


def change_only_tables(study):
    study["environments"]["Taxi-v3"]["thresholds"] = [5]
    study["scales"]["tiny"]["algorithms"] = ["powr"]


def test_edited_inputs_with_their_old_times_are_seen(used):
    """As `cp -p` and `rsync -a` leave them."""
    for name, change, made in [
        ("claims.yaml", lambda claims: claims.pop("deviations", None), "claims"),
        ("envs.yaml", change_only_tables, "aggregate"),
    ]:
        path = used.folder / name
        before = path.stat()
        used.edit_study(change, name)
        path.write_text(path.read_text() + "# edited\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        planned = {job.rule for job in used.planned()}
        assert made in planned
        assert ("aggregate" in planned) == (name == "envs.yaml")


ONE_SETTING = {("Taxi-v3", "powr-bold", seed) for seed in range(2)}


@pytest.mark.parametrize(
    ("kind", "change", "touched"),
    [
        ("clone", change_one_setting, ONE_SETTING),
        ("used", change_one_setting, ONE_SETTING),
        ("used", change_only_tables, set()),
    ],
)
def test_a_change_trains_exactly_the_runs_it_touches(request, kind, change, touched):
    repository = request.getfixturevalue(kind)
    shuffle_times(repository, seed=1)
    repository.edit_study(change)
    planned = repository.planned()
    assert {job[1:] for job in trained(planned)} == touched
    assert "aggregate" in {job.rule for job in planned}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("suite/results/statistics.py", {"aggregate", "figure", "claims"}),
        ("suite/plots/training_curves.py", {"figure"}),
        # Whoever changes training says by `revision` whether it changes results.
        ("suite/training/run.py", set()),
    ],
)
def test_new_code_makes_tables_and_figures_anew_and_trains_nothing(used, name, made):
    with (used.folder / name).open("a") as file:
        file.write("# changed\n")
    planned = used.planned()
    assert trained(planned) == set()
    assert made <= {job.rule for job in planned}


def test_tables_made_again_are_the_same_bytes_and_stale_run_files_are_never_read(clone):
    shuffle_times(clone, seed=2)
    for path in clone.folder.glob("results/tiny/*/*/seed?-*.csv"):
        path.with_name("seed0-000000000000.csv").write_text("of other settings\n")
    (clone.folder / "results/tiny/curves.csv").unlink()
    done = clone.snakemake()
    assert done.returncode == 0, done.stderr
    assert "aggregate" in {job.rule for job in jobs(done.stderr + done.stdout)}
    assert clone.git("diff", "--name-only", "--", "results").strip() == ""
