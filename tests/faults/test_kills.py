"""The workflow stopped at random moments: finished work stays, and what follows is the same."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

from tests.faults.study import EVERYTHING, identity, kill, wait_for_end, wait_for_training

pytestmark = pytest.mark.faults

KILLS = 10
GRACEFUL = "Will exit after finishing currently running jobs"


def written(study):
    """Every version of every file that a workflow has written so far."""
    found = set()
    for folder in ("logs", "results"):
        for path in (study.folder / folder).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a temporary one, gone again
                found.add((path, *identity(path)))
    return found


def wait_for_writes(study, process, count):
    """Wait until so many files were written, or the end.

    Moments are counted by what is written: by the clock, they all come before the first run or
    after the last where other work comes and goes.
    """
    before, seen = written(study), set()
    while len(seen) < count and process.poll() is None:
        time.sleep(0.02)
        seen |= written(study) - before


def kill_at_random(study, process, rng):
    """Kill -9 the whole session at a random moment; False if it had ended by itself."""
    wait_for_writes(study, process, rng.randint(0, 15))
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(0, 1))
    kill(process)
    return process.returncode == -signal.SIGKILL


def test_ten_kills_of_everything(fresh):
    """Each kill is followed by the same command, which may be killed in turn."""
    rng = random.Random(6)  # noqa: S311
    finished_at_kill = Counter()
    studies = 0
    while finished_at_kill.total() < KILLS:
        study, kept = fresh(f"study{studies}"), {}
        studies += 1
        while finished_at_kill.total() < KILLS:
            process = study.start(*EVERYTHING, cores=2)
            if not kill_at_random(study, process, rng):
                assert process.returncode == 0
                break
            kept |= study.check_finished()
            finished_at_kill[len(kept)] += 1
        study.finish(kept)
    assert len(finished_at_kill) > 2


@pytest.mark.parametrize(
    ("signum", "message"),
    [
        pytest.param(signal.SIGTERM, GRACEFUL, id="SIGTERM"),
        pytest.param(signal.SIGINT, "Terminating processes", id="SIGINT", marks=pytest.mark.slow),
    ],
)
def test_stopping_by_signal(fresh, signum, message):
    """As sent by a terminal or at shutdown: to all processes. No unlocking is needed."""
    rng = random.Random(int(signum))  # noqa: S311
    for number in range(2):
        study = fresh(f"stopped{number}")
        process = study.start(*EVERYTHING, cores=2)
        wait_for_training(study, process)
        if number == 0:
            second = study.snakemake(*EVERYTHING)
            assert second.returncode != 0
            assert "cannot be locked" in second.stderr
        wait_for_writes(study, process, rng.randint(0, 6))
        time.sleep(rng.uniform(0.1, 1))  # in its first moments Python itself shows a traceback
        os.killpg(process.pid, signum)
        errors = wait_for_end(process)
        assert process.returncode != 0
        assert message in errors, errors
        assert "Traceback" not in errors, errors
        assert study.leftovers() == []
        study.finish(study.check_finished())
