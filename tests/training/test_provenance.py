"""Provenance says what was loaded and from which commit, and nothing about whose machine it was."""

import json
import resource

import gymnasium
import numpy as np
import pytest
import threadpoolctl

from suite.results.run_file import Provenance
from suite.results.summary import find_origins
from suite.training import provenance
from tests.workflow.repository import Repository


def test_git_state(tmp_path):
    assert provenance.git_state(tmp_path) is None
    git = Repository(tmp_path).git
    git("init")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--message", "first")
    state = provenance.git_state(tmp_path)
    assert len(state["commit"]) == 40
    assert state["clean"]
    (tmp_path / "untracked").write_text("a result")
    assert provenance.git_state(tmp_path)["clean"]
    (tmp_path / "file").write_text("two")
    assert not provenance.git_state(tmp_path)["clean"]
    # A copy inside a foreign repository has no commit.
    (tmp_path / "copy").mkdir()
    assert provenance.git_state(tmp_path / "copy") is None


def test_a_repository_of_another_user_is_told(tmp_path, monkeypatch):
    Repository(tmp_path).git("init")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as Git's own tests do
    assert provenance.git_state(tmp_path) == "repository of another user"
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    found = provenance.collect()
    assert (found["git"], found["git_fault"]) == (None, "repository of another user")
    assert list(find_origins([Provenance.model_validate(found)])["commit"]) == [
        "repository of another user"
    ]


def test_collects_what_is_loaded_without_naming_the_machine():
    with threadpoolctl.threadpool_limits(1):
        found = provenance.collect()
    assert found["packages"]["numpy"] == np.__version__
    assert found["packages"]["gymnasium"] == gymnasium.__version__
    assert any(pool["user_api"] == "blas" for pool in found["thread_pools"])
    assert {pool["num_threads"] for pool in found["thread_pools"]} == {1}
    assert found["cpu"]
    assert str(provenance.ROOT) not in json.dumps(found)


def test_thread_pools_have_one_order(monkeypatch):
    pools = [{"user_api": "blas", "version": version} for version in ("0.3.31", "0.3.30")]
    found = []
    for order in (pools, pools[::-1]):
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda order=order: order)
        found.append(provenance.collect()["thread_pools"])
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.mark.parametrize("status", ["Name:\tpython\nVmRSS:\t  20 kB\n", ""])
def test_peak_memory_is_that_of_getrusage_where_the_system_tells_no_vmhwm(status, monkeypatch):
    monkeypatch.setattr(provenance.Path, "read_text", lambda path, encoding: status)
    monkeypatch.setattr(provenance.sys, "platform", "linux")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert provenance.peak_memory_bytes() >= peak > 20 * 1024
    assert not status or provenance.resident_memory_bytes() == 20 * 1024
