"""A tiny study run without disturbance, and fresh copies of its folder to disturb."""

import shutil

import pytest

from tests.faults.study import Reference, make_repository, run_files
from tests.workflow.repository import Repository, copy_unused

TINY = {"seeds": 2, "algorithms": ["powr", "a2c"], "timesteps": {"FrozenLake-v1": 150}}


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    repository = make_repository(tmp_path_factory.mktemp("reference"), TINY)
    repository.drop_theorems()
    done = repository.snakemake(cores=2)
    assert done.returncode == 0, done.stderr
    assert len(run_files(repository)) == 4
    return Reference(repository, repository.results())


@pytest.fixture
def fresh(reference, tmp_path):
    """Makes copies of the study's folder as it was before the first run."""

    def copy(folder):
        """`folder` may be a name, or a path elsewhere."""
        folder = tmp_path / folder
        copy_unused(reference.repository.folder, folder)
        return Repository(folder)

    return copy


@pytest.fixture
def finished(reference, tmp_path):
    """A copy of the study's folder after the undisturbed run."""
    shutil.copytree(reference.repository.folder, tmp_path / "finished", symlinks=True)
    return Repository(tmp_path / "finished")
