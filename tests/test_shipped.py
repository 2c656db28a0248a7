"""What is shipped of the paper scale is complete, current and as the manifest lists it."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from suite import config
from suite.release import manifest, readme
from suite.training.run import saves_agent

ROOT = Path(__file__).parent.parent
RENEW = "run `make ship` and commit README.md, results/paper and figures"


@pytest.fixture(scope="module")
def committed():
    """The names that the manifest should list; new runs may lie beside them uncommitted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git repository")
    return set(manifest.shipped(ROOT)) & set(listed.stdout.split("\0"))


def test_manifest_lists_exactly_the_committed_files(committed):
    assert set(manifest.read(ROOT)) == committed, RENEW


def test_files_are_those_of_the_manifest():
    assert manifest.faults(ROOT) == {}, RENEW


def test_run_files_are_those_of_the_study(committed):
    study = config.load(ROOT / "envs.yaml")
    current = {
        Path("results", run.path).with_suffix("").as_posix() for run in config.runs(study, "paper")
    }
    there = {name.split(".")[0] for name in committed if re.search(r"/seed\d+-", name)}
    assert there <= current
    for stem in there:
        algorithm = study["algorithms"][stem.split("/")[3]]
        assert {f"{stem}.csv", f"{stem}.json"} <= committed
        assert (f"{stem}.npz" in committed) == saves_agent(algorithm["class"])


def test_readme_shows_what_the_tables_say():
    text = (ROOT / readme.README).read_text(encoding="utf-8")
    assert readme.renew(text, readme.blocks(ROOT)) == text, RENEW


def test_codecheck_lists_files_that_are_shipped():
    document = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))
    assert all((ROOT / entry["file"]).is_file() for entry in document["manifest"])
