import copy
from pathlib import Path

import pytest
import yaml

from suite import config

ENVS = Path(__file__).parent.parent.parent / "envs.yaml"


@pytest.fixture(scope="session")
def real_study():
    return config.load(ENVS)


@pytest.fixture
def study(real_study):
    """The real study, free to be changed."""
    return copy.deepcopy(real_study)


@pytest.fixture
def write_study(tmp_path):
    def write(study):
        path = tmp_path / "envs.yaml"
        path.write_text(study if isinstance(study, str) else yaml.safe_dump(study, sort_keys=False))
        return path

    return write
