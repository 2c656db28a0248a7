"""make verify, on a small study in the place of the paper's: what it confirms and what it finds."""

import hashlib
import json
import shutil
import subprocess
import sys

import pytest

from suite import config
from tests.workflow.repository import Repository, copy_working_tree

pytestmark = pytest.mark.workflow

TINY = {"seeds": 2, "algorithms": ["powr", "a2c"], "timesteps": {"FrozenLake-v1": 150}}


def make_tiny(study):
    study["scales"] = {"paper": TINY}
    study["evaluation"] = {"episodes": 2, "first": 100, "per_decade": 4}
    study.pop("multiverse", None)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The small study's results in a repository, but for one run that is still missing."""
    repository = Repository(tmp_path_factory.mktemp("shipped"))
    copy_working_tree(repository.folder)
    repository.edit_study(make_tiny)
    repository.drop_theorems()
    shutil.rmtree(repository.folder / "figures")
    done = repository.snakemake("--", *first_runs(repository), scale="paper", cores=2)
    assert done.returncode == 0, done.stderr
    done = repository.snakemake("partial=true", "--", "all", "gifs", scale="paper")
    assert done.returncode == 0, done.stderr
    return repository


def first_runs(repository):
    """The runs of POWR, and the first of A2C."""
    study = config.load(repository.folder / "envs.yaml")
    runs = study.runs("paper")
    return [f"results/{run.path}" for run in runs if (run.algorithm, run.seed) != ("a2c", 1)]


def verify(repository, *patterns):
    command = [sys.executable, "-m", "suite", "verify", "--cores", "2", "--retrain", *patterns]
    done = subprocess.run(command, cwd=repository.folder, capture_output=True, text=True)
    return done, done.stdout.splitlines()


def test_confirms_what_is_right(shipped):
    done, lines = verify(shipped, "*/powr/*", "*/a2c/seed0-*", "*/a2c/seed1-*")
    assert done.returncode == 0, done.stdout + done.stderr
    identical = [line for line in lines if line.startswith("identical: ")]
    for name in ("summary.md", "cells.csv", "cost.csv", "report.html"):
        assert f"identical: results/paper/{name}" in identical
    for name in ("training_curves.pdf", "threshold_boxplots.png", "FrozenLake-v1.gif"):
        assert f"identical: figures/{name}" in identical
    retrained = [line for line in identical if "/seed" in line]
    assert [line.rpartition(" (")[2] for line in retrained] == [
        "evaluations and agent)",
        "evaluations and agent)",
        "evaluations)",
    ]
    assert "not shipped: */a2c/seed1-*" in lines
    assert lines[-1] == "python -m suite verify: everything agrees"


def edit_last_row(path):
    """Give the run a return that it never had, and vouch for it."""
    *rows, last = path.read_text().splitlines()
    cells = last.split(",")
    cells[1:5] = ["0.25", "0.25", "0.0", "0.5"]
    path.write_text("\n".join([*rows, ",".join(cells)]) + "\n")
    beside = path.with_suffix(".json")
    document = json.loads(beside.read_text())
    document["csv_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    beside.write_text(json.dumps(document))


def test_finds_what_was_doctored(shipped, tmp_path):
    shutil.copytree(shipped.folder, tmp_path / "doctored")
    repository = Repository(tmp_path / "doctored")
    results = repository.folder / "results/paper"
    (run,) = results.glob("*/a2c/seed0-*.csv")
    edit_last_row(run)
    first, second = sorted(results.glob("*/powr/*.npz"))
    shutil.copyfile(first, second)
    table = results / "summary.csv"
    table.write_text(table.read_text().replace(",0.8,", ",0.7,"))
    done, lines = verify(repository, "*/a2c/*")
    assert done.returncode == 1
    found = {
        path.name: [line for line in lines if line.startswith(f"DIFFERS: results/paper/{name} ")]
        for path, name in ((p, p.relative_to(results)) for p in (run, second, table))
    }
    assert "on the same versions and processor" in found[run.name][0]
    assert "is not the agent of agent_sha256" in found[second.name][0]
    assert "see `diff " in found[table.name][0]
    shutil.rmtree(lines[-1].rpartition(" ")[2])
