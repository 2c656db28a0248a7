"""A repository with a tiny study, run once; each test works on a real clone of it."""

import subprocess

import pytest

from tests.workflow.repository import Repository, copy_working_tree

TINY = {
    "seeds": 2,
    "algorithms": ["powr", "powr-bold"],
    "timesteps": {"FrozenLake-v1": 150, "Taxi-v3": 150},
}
BOLD = {
    "class": "powr",
    "source": {"kind": "library defaults"},
    "revision": 1,
    "settings": {"step_size": 2.0},
}


@pytest.fixture(scope="session")
def first_run(tmp_path_factory):
    """The repository after its first run, and what snakemake said."""
    repository = Repository(tmp_path_factory.mktemp("origin $HOME"))
    copy_working_tree(repository.folder)

    repository.add_tiny_scale(TINY, **{"powr-bold": BOLD})
    repository.drop_theorems()
    repository.git("init", "--quiet")
    done = repository.snakemake(environment={"PYTHONSAFEPATH": "1"})
    assert done.returncode == 0, done.stderr
    repository.commit()
    return repository, done


@pytest.fixture
def clone(first_run, tmp_path):
    repository, _ = first_run
    copy = Repository(tmp_path / "clone")
    subprocess.run(["git", "clone", "--quiet", repository.folder, copy.folder], check=True)
    return copy
