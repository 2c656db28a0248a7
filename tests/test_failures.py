"""The jobs that failed to the end, read out of snakemake's messages; the locks of killed ones."""

import os
from types import SimpleNamespace

import pytest

from suite import SuiteError
from suite.failures import check_room, failure_summary, mark_running

ERROR = """\
Error in rule {rule}:
    message: None
    jobid: {job}
    input: envs.yaml
    output: results/{job}.csv, results/{job}.json
    log: logs/{job}.log{more} (check log file(s) for error details)
    shell:
        python -m suite run 2> logs/{job}.log
        (command exited with non-zero exit code)
"""


def error(rule, job, more=""):
    return ERROR.format(rule=rule, job=job, more=more)


@pytest.fixture(autouse=True)
def _logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    for job in range(3):
        (tmp_path / "logs" / f"{job}.log").write_text(f"started\nout of order {job}\n\n")


def test_every_failed_job_is_listed_once_with_the_last_line_of_its_log(tmp_path):
    (tmp_path / "logs" / "3.log").write_text("")
    messages = error("train", 1) + "Trying to restart job 1.\n" + error("train", 1)
    messages += error("aggregate", 2, ", /slurm/7.log") + error("train", 3)  # a cluster's log too
    header, *lines = failure_summary(messages).splitlines()
    assert header.startswith("3 jobs failed")
    assert lines == [
        "  train: logs/1.log",
        "    out of order 1",
        "  aggregate: logs/2.log",
        "    out of order 2",
        "  train: logs/3.log",
        "    killed before it wrote anything; out of memory?",
    ]


def test_a_job_that_succeeds_when_tried_again_has_not_failed():
    messages = error("train", 1) + error("train", 2) + "Finished jobid: 2 (Rule: train)\n"
    assert "logs/2.log" not in failure_summary(messages)
    assert failure_summary(error("train", 2) + "Finished jobid: 2 (Rule: train)\n") == ""


def test_a_disk_without_room_is_refused_before_the_workflow_begins(tmp_path, monkeypatch):
    disk = SimpleNamespace(f_files=10**6, f_favail=10**5, f_bavail=10**5, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda folder: folder.stat() and disk)
    check_room(tmp_path)
    check_room(tmp_path / "not there yet" / "results")
    for field, message in [("f_favail", "^0 free inodes on .*: delete"), ("f_bavail", "^0 free b")]:
        full = SimpleNamespace(**{**vars(disk), field: 0})
        monkeypatch.setattr(os, "statvfs", lambda folder, full=full: full)
        with pytest.raises(SuiteError, match=message):
            check_room(tmp_path)


def test_locks_are_dropped_unless_a_workflow_is_running(tmp_path):
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    with mark_running(tmp_path / ".snakemake"):
        lock.touch()
        for _ in range(2):
            mark_running(tmp_path / ".snakemake").close()
            assert lock.exists()
    mark_running(tmp_path / ".snakemake").close()
    assert not lock.exists()
