"""The workflow killed at random moments: finished work stays, and what follows is the same."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

from tests.faults.study import leftovers, processes, run_files, training_logs
from tests.workflow.repository import jobs

pytestmark = pytest.mark.faults

KILLS = 20
SECONDS_TO_END = 120  # only hanging takes so long; on a quiet machine it is two


def identity(path):
    """Changes if the file is written again, even with the same content."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def check_finished(repository, reference):
    """Every run file there is whole and right; which they are."""
    for path in run_files(repository):
        name = str(path.relative_to(repository.folder / "results"))
        assert path.read_bytes() == reference.results[name]
        assert path.with_suffix(".json").exists()
    return {path: identity(path) for path in run_files(repository)}


def check_end(repository, reference, kept):
    """The study is finished as if never disturbed, and kept files were not made again."""
    assert repository.results() == reference.results
    assert leftovers(repository) == []
    assert {path: identity(path) for path in kept} == kept


def written(repository):
    """Every version of every file that a workflow has written so far."""
    found = set()
    for folder in ("logs", "results"):
        for path in (repository.folder / folder).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a temporary one, gone again
                found.add((path, *identity(path)))
    return found


def wait_for_writes(repository, process, count):
    """Wait until so many files were written, or the end.

    Moments are counted by what is written: by the clock, they all come before the first run or
    after the last where other work comes and goes.
    """
    before, seen = written(repository), set()
    while len(seen) < count and process.poll() is None:
        time.sleep(0.02)
        seen |= written(repository) - before


def kill_at_random(repository, process, rng):
    """Kill -9 the whole session at a random moment; False if it had ended by itself."""
    wait_for_writes(repository, process, rng.randint(0, 15))
    try:
        process.wait(rng.uniform(0, 1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def test_twenty_kills(reference, fresh, capsys):
    """Each kill is followed by a resume, which may be killed in turn."""
    rng = random.Random(6)  # noqa: S311
    finished_at_kill = Counter()
    studies = 0
    while finished_at_kill.total() < KILLS:
        repository, kept = fresh(f"study{studies}"), {}
        studies += 1
        while finished_at_kill.total() < KILLS:
            process = repository.start(cores=2)
            if not kill_at_random(repository, process, rng):
                assert process.returncode == 0
                break
            assert processes(repository) == []
            kept |= check_finished(repository, reference)
            finished_at_kill[len(kept)] += 1
            repository.snakemake("--unlock")
        else:
            done = repository.snakemake(cores=2)
            assert done.returncode == 0, done.stderr
        check_end(repository, reference, kept)
    with capsys.disabled():
        print(f"\n{KILLS} kills in {studies} studies of {len(reference.results)} results; kills by")
        print(f"the number of finished runs: {dict(sorted(finished_at_kill.items()))}")
    assert len(finished_at_kill) > 2


def wait_for_training(repository, process):
    while not training_logs(repository):
        assert process.poll() is None
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("signum", "message"),
    [
        (signal.SIGTERM, "Will exit after finishing currently running jobs"),
        (signal.SIGINT, "Terminating processes on user request"),
    ],
    ids=["SIGTERM", "SIGINT"],
)
def test_stopping_by_signal(reference, fresh, capsys, signum, message):
    """As sent by a terminal or at shutdown: to all processes. No unlocking is needed."""
    rng = random.Random(int(signum))  # noqa: S311
    seconds = []
    for number in range(3):
        repository = fresh(f"stopped{number}")
        process = repository.start(cores=2)
        wait_for_training(repository, process)
        wait_for_writes(repository, process, rng.randint(0, 6))
        time.sleep(rng.uniform(0.1, 1))  # in its first moments Python itself shows a traceback
        os.killpg(process.pid, signum)
        start = time.monotonic()
        _, errors = process.communicate(timeout=SECONDS_TO_END)
        seconds.append(time.monotonic() - start)
        assert process.returncode != 0
        assert message in errors, errors
        assert "Traceback" not in errors, errors
        assert processes(repository) == []
        assert leftovers(repository) == []
        kept = check_finished(repository, reference)
        done = repository.snakemake(cores=2)
        assert done.returncode == 0, done.stderr
        check_end(repository, reference, kept)
    with capsys.disabled():
        print(f"\nended {', '.join(f'{each:.1f}' for each in seconds)} s after {signum.name}")


def test_second_workflow_in_one_folder_refuses(reference, fresh):
    repository = fresh("shared")
    process = repository.start(cores=2)
    wait_for_training(repository, process)
    second = repository.snakemake()
    assert process.poll() is None
    assert second.returncode != 0
    assert "Directory cannot be locked" in second.stderr
    assert "--unlock" in second.stderr
    assert jobs(second.stdout + second.stderr) == []
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    check_end(repository, reference, {})
