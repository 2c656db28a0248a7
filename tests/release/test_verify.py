"""Verification goes on past what cannot be made, and reports it; tests/workflow has a whole one."""

import hashlib
import json
import subprocess

import pytest

from suite.release import verify
from suite.release.agreement import DIFFERS, IDENTICAL

RUN = "results/paper/FrozenLake-v1/powr/seed0-0123456789ab"
GIF = "figures/FrozenLake-v1.gif"


@pytest.fixture
def root(tmp_path):
    """A repository of one run, a page made of it and a picture."""
    root = tmp_path / "root"
    for name in (*verify.SOURCES, "figures"):
        (root / name).mkdir(parents=True)
    (root / RUN).parent.mkdir(parents=True)
    (root / f"{RUN}.csv").write_text("timestep,mean\n100,0.5\n")
    (root / f"{RUN}.npz").write_bytes(b"agent")
    agent = hashlib.sha256(b"agent").hexdigest()
    (root / f"{RUN}.json").write_text(json.dumps({"agent_sha256": agent}))
    (root / "results/paper/claims.md").write_text("made\n")
    (root / GIF).write_text("made\n")
    return root


@pytest.fixture
def verified(root, tmp_path, monkeypatch):
    """What verify says where the workflow makes these files, with their content, and then fails."""

    def run(makes, patterns=()):
        def workflow(command, cwd, **_):
            assert "--keep-going" in command
            for name, content in makes.items():
                (cwd / name).parent.mkdir(parents=True, exist_ok=True)
                (cwd / name).write_text(content)
            return subprocess.CompletedProcess(command, 1, "", "rule claims failed")

        monkeypatch.setattr(verify.subprocess, "run", workflow)
        (tmp_path / "scratch").mkdir()
        return list(verify.verify(root, tmp_path / "scratch", patterns, cores=1))

    return run


def test_an_agent_of_another_run_is_a_disagreement(root, verified):
    (root / f"{RUN}.npz").write_bytes(b"other")
    findings = {subject: finding for finding, subject, _ in verified({GIF: "made\n"})}
    assert (findings[f"{RUN}.npz"], findings[GIF]) == (DIFFERS, IDENTICAL)


def test_what_the_workflow_cannot_make_is_reported_and_the_rest_compared(verified):
    found = verified({GIF: "other\n"}, ["FrozenLake-v1/powr/*"])
    assert (DIFFERS, "results/paper/claims.md", "was not made here") in found
    assert (DIFFERS, f"{RUN}.csv", "was not trained here") in found
    details = [detail for finding, _, detail in found if finding == DIFFERS]
    assert any("rule claims failed" in detail for detail in details)
    assert any("see `diff" in detail and GIF in detail for detail in details)
