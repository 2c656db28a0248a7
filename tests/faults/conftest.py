"""A tiny study run without disturbance, and copies of its folder to disturb."""

import pytest

from tests.faults.study import EVERYTHING, Study
from tests.workflow.repository import copy_unused, copy_working_tree

# POWR in finite and in box states, and a baseline with sixteen normalised environments at once.
TINY = {
    "seeds": 1,
    "algorithms": ["powr", "a2c-authors"],
    "timesteps": {"FrozenLake-v1": 150, "MountainCar-v0": 500},
}
BRANCH = {"tier": "any", "environments": ["FrozenLake-v1"], "settings": {"step_size": [0.1, 1.0]}}
MULTIVERSE = {
    "algorithm": "powr",
    "timesteps": {"FrozenLake-v1": 150},
    "seeds": 1,
    "branches": [BRANCH],
}


def vary(study):
    study["multiverse"] = MULTIVERSE
    study["algorithms"]["powr"]["environments"]["MountainCar-v0"]["method"] = "nystrom"


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("reference"), {})
    copy_working_tree(study.folder)
    study.add_tiny_scale(TINY)
    study.edit_study(vary)
    study.drop_theorems()
    done = study.snakemake(*EVERYTHING, cores=2)
    assert done.returncode == 0, done.stderr
    assert len(study.run_files()) == 4 + 2
    study.expected = study.results()
    return study


@pytest.fixture
def fresh(reference, tmp_path):
    """Makes copies of the study's folder as it was before the first run."""

    def copy(folder):
        """`folder` may be a name, or a path elsewhere."""
        folder = tmp_path / folder
        copy_unused(reference.folder, folder)
        return Study(folder, reference.expected)

    return copy
