"""What is installed is what is written: exact versions, closed under dependencies, in one voice.

And nothing from a configuration file is ever run: no eval, no pickle, no unquoted shell text.
"""

import hashlib
import importlib.metadata
import itertools
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import powr

pytestmark = pytest.mark.repository

ROOT = Path(__file__).parent.parent


def lock():
    """Name and version of each line of requirements.txt."""
    text = (ROOT / "requirements.txt").read_text()
    return dict(re.findall(r"^([^#\s]+)==(\S+)$", text, re.MULTILINE))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def direct():
    """The requirements that pyproject.toml states, extras included."""
    table = project()["project"]
    groups = [table["dependencies"], *table["optional-dependencies"].values()]
    stated = itertools.chain.from_iterable(groups)
    return {canonicalize_name(Requirement(text).name): Requirement(text) for text in stated}


# What torch of the ordinary index needs on Linux, and its build for CPUs does not. It pins them.
CUDA = re.compile(r"(nvidia|cuda|triton)\b.*")


def needed_by(name, extras=()):
    """What an installed distribution asks for here, with these of its extras."""
    for text in importlib.metadata.requires(name) or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if name == "torch" and CUDA.fullmatch(requirement.name):
            continue
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def test_version_changelog_and_citation_name_the_same_release():
    """Between two releases the version is that of the next one, with .dev0."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## (\S+) \((\S+)\)$", changelog, re.MULTILINE)
    in_work = entries[0][0] if entries[0][1] == "unreleased" else None
    released = entries[1 if in_work else 0]
    assert released == (citation["version"], str(citation["date-released"]))
    assert powr.__version__ == (f"{in_work}.dev0" if in_work else citation["version"])


@pytest.mark.parametrize("name", lock())
def test_the_lock_is_closed_and_installed(name):
    pinned = lock()
    # torch calls its build without CUDA 2.13.0+cpu.
    assert Version(importlib.metadata.version(name)).public == pinned[name]
    for requirement in needed_by(name):
        dependency = canonicalize_name(requirement.name)
        assert dependency in pinned, f"{name} needs {requirement}"
        assert requirement.specifier.contains(pinned[dependency], prereleases=True), requirement


def test_actions_are_pinned_by_commit():
    workflows = [yaml.safe_load(path.read_text()) for path in ROOT.glob(".github/workflows/*")]
    jobs = [job for workflow in workflows for job in workflow["jobs"].values()]
    used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in used)


def test_the_lock_holds_nothing_that_is_not_needed():
    reached, waiting = set(), [(name, ()) for name in direct()]
    while waiting:
        asked = waiting.pop()
        if asked not in reached:
            reached.add(asked)
            waiting += [
                (canonicalize_name(each.name), tuple(sorted(each.extras)))
                for each in needed_by(*asked)
            ]
    assert set(lock()) == {name for name, _ in reached}


@pytest.mark.parametrize(("name", "requirement"), direct().items(), ids=direct())
def test_the_lock_is_within_what_the_project_allows(name, requirement):
    assert requirement.specifier.contains(lock()[name])


def test_conda_installs_the_same():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = (entry["pip"] for entry in entries if isinstance(entry, dict))
    assert dict(line.split("==") for line in pip) == {name: lock()[name] for name in direct()}
    (python,) = (entry for entry in entries if str(entry).startswith("python="))
    assert python.removeprefix("python=") in project()["project"]["requires-python"]


VENDOR = ROOT / "suite/report/vendor"


def test_vendored_files_are_those_of_their_release():
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(sums) == {path.name for path in VENDOR.iterdir()} - {"SHA256SUMS", "README.md"}
    for name, digest in sums.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
    title = (VENDOR / "README.md").read_text().splitlines()[0]
    version = title.removeprefix("# uPlot ")
    assert f"uPlot (v{version})" in (VENDOR / "uPlot.iife.min.js").read_text()[:100]
