"""What is shipped of the paper scale is complete and current."""

import re
import subprocess
from pathlib import Path

import pytest

from suite import config, verify
from suite.claims import document, page
from suite.training.algorithms import saves_agent

ROOT = Path(__file__).parent.parent
RENEW = "run `make figures` and commit README.md, results/paper and figures"


@pytest.fixture(scope="module")
def committed():
    """What is shipped; new runs may lie beside it uncommitted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git repository")
    return set(verify.shipped(ROOT)) & set(listed.stdout.split("\0"))


def test_run_files_are_those_of_the_study(committed):
    study = config.load(ROOT / "envs.yaml")
    current = {
        Path("results", run.path).with_suffix("").as_posix()
        for scale in ("paper", "fixed-starts")
        for run in study.runs(scale)
    }
    there = {name.split(".")[0] for name in committed if re.search(r"/seed\d+-", name)}
    assert there <= current
    for stem in there:
        algorithm = study.algorithms[stem.split("/")[3]]
        assert {f"{stem}.csv", f"{stem}.json"} <= committed
        has_agent = saves_agent(algorithm.class_) and stem.startswith("results/paper/")
        assert (f"{stem}.npz" in committed) == has_agent


def test_readme_shows_what_the_tables_say():
    text = (ROOT / page.README).read_text(encoding="utf-8")
    study, claims = config.load(ROOT / "envs.yaml"), document.load(ROOT / "claims.yaml")
    assert page.renew(text, page.readme_parts(study, claims, ROOT / "results/paper")) == text, RENEW
