"""requirements-docs.txt: exact versions that requirements.txt does not have, and nothing idle."""

import importlib.metadata
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.test_supply_chain import lock, needed_by

pytestmark = pytest.mark.docs
LINES = (Path(__file__).parents[2] / "requirements-docs.txt").read_text().splitlines()
PINNED = dict(line.split("==") for line in LINES if not line.startswith("#"))
ASKED_FOR = [line.split("==")[0] for line in LINES[1 : LINES.index("# and what these need:")]]


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


def test_the_lock_holds_nothing_that_is_not_needed():
    reached, waiting = set(), list(ASKED_FOR)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [canonicalize_name(each.name) for each in needed_by(name)]
    assert set(PINNED) == reached - set(lock())
