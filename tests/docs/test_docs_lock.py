"""requirements-docs.txt: exact versions of all that is needed and requirements.txt has not."""

import importlib.metadata
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.test_supply_chain import lock, needed_by

pytestmark = pytest.mark.docs
LINES = (Path(__file__).parents[2] / "requirements-docs.txt").read_text().splitlines()
PINNED = dict(line.split("==") for line in LINES if not line.startswith("#"))


def test_every_line_is_one_exact_version_and_pinned_once():
    for line in LINES:
        assert line.startswith("#") or re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line), line
    assert set(PINNED).isdisjoint(lock())


@pytest.mark.parametrize("name", PINNED)
def test_the_lock_is_closed_and_installed(name):
    everything = lock() | PINNED
    assert importlib.metadata.version(name) == PINNED[name]
    for requirement in needed_by(name):
        dependency = canonicalize_name(requirement.name)
        assert dependency in everything, f"{name} needs {requirement}"
        assert requirement.specifier.contains(everything[dependency], prereleases=True), requirement
