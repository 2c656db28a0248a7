"""Verification goes on past what is damaged or cannot be made, and reports it."""

import hashlib
import json
import subprocess

import pytest

from powr import POWR
from suite.release import manifest, verify
from suite.release.agreement import DIFFERS, IDENTICAL

RUN = "results/paper/FrozenLake-v1/powr/seed0-0123456789ab"
DAMAGED = {"cut": '{"agent_sha256": "ab', "list": "[]", "empty": "", "binary": b"\xff\xfe"}


@pytest.fixture
def root(tmp_path):
    """A repository of one run, a page made of it and a picture, and the manifest of these."""
    root = tmp_path / "root"
    for name in (*verify.SOURCES, "figures"):
        (root / name).mkdir(parents=True)
    (root / RUN).parent.mkdir(parents=True)
    (root / f"{RUN}.csv").write_text("timestep,mean\n100,0.5\n")
    POWR("FrozenLake-v1").save(root / f"{RUN}.npz")
    agent = hashlib.sha256((root / f"{RUN}.npz").read_bytes()).hexdigest()
    (root / f"{RUN}.json").write_text(json.dumps({"agent_sha256": agent}))
    (root / "results/paper/claims.md").write_text("made\n")
    (root / "figures/FrozenLake-v1.gif").write_text("made\n")
    write_manifest(root)
    return root


def write_manifest(root):
    (root / manifest.MANIFEST).write_text(manifest.render(root))


def damage(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def verified(root, scratch, monkeypatch, makes, patterns=()):
    """What verify says where the workflow makes these files, with their content, and then fails."""

    def workflow(command, cwd, **_):
        assert "--keep-going" in command
        for name, content in makes.items():
            (cwd / name).parent.mkdir(parents=True, exist_ok=True)
            (cwd / name).write_text(content)
        return subprocess.CompletedProcess(command, 1, "", "rule claims failed")

    monkeypatch.setattr(verify.subprocess, "run", workflow)
    scratch.mkdir()
    return list(verify.verify(root, scratch, patterns, cores=1))


def test_an_agent_is_that_of_its_run(root):
    assert [line.finding for line in verify.check_files(root)] == [IDENTICAL]


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("listed", [True, False])
def test_a_damaged_json_is_a_disagreement(root, content, listed):
    damage(root / f"{RUN}.json", content)
    if listed:
        write_manifest(root)
    lines = list(verify.check_files(root))
    found = {line.subject: line.detail for line in lines if line.finding == DIFFERS}
    assert "the .json beside it cannot be read" in found.pop(f"{RUN}.npz")
    assert list(found) == ([] if listed else [f"{RUN}.json"])


def test_an_agent_of_another_run_or_format_is_a_disagreement(root):
    document = json.loads((root / f"{RUN}.json").read_text())
    for content, words in ((b"agent", "cannot be loaded"), (b"other", "is not the agent that its")):
        (root / f"{RUN}.npz").write_bytes(content)
        digest = hashlib.sha256(b"agent").hexdigest()
        (root / f"{RUN}.json").write_text(json.dumps({**document, "agent_sha256": digest}))
        write_manifest(root)
        (line,) = (line for line in verify.check_files(root) if line.finding == DIFFERS)
        assert (line.subject, words in line.detail) == (f"{RUN}.npz", True)


def test_what_the_workflow_cannot_make_is_reported_and_the_rest_compared(
    root, tmp_path, monkeypatch
):
    makes = {"figures/FrozenLake-v1.gif": "made\n"}
    lines = verified(root, tmp_path / "scratch", monkeypatch, makes)
    assert verify.Line(IDENTICAL, "figures/FrozenLake-v1.gif") in lines
    assert verify.Line(DIFFERS, "results/paper/claims.md", "was not made here") in lines
    assert any("rule claims failed" in line.detail for line in lines)


@pytest.mark.parametrize("content", [*DAMAGED.values(), None], ids=[*DAMAGED, "missing"])
def test_a_run_with_a_damaged_json_that_trains_to_other_rows_differs(
    root, tmp_path, monkeypatch, content
):
    if content is None:
        (root / f"{RUN}.json").unlink()
    else:
        damage(root / f"{RUN}.json", content)
    makes = {
        f"{RUN}.csv": "timestep,mean\n100,0.6\n",
        f"{RUN}.json": '{"provenance": {"packages": {}}}',
    }
    lines = verified(root, tmp_path / "scratch", monkeypatch, makes, ["FrozenLake-v1/powr/*"])
    (line,) = (line for line in lines if line.subject == f"{RUN}.csv")
    assert line.finding == DIFFERS
    assert "cannot be compared" in line.detail
