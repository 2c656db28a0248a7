"""The runs of a comparison: some at a time, each in a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from suite.config import Run
from suite.names import algorithm_name


class Job(NamedTuple):
    run: Run
    process: subprocess.Popen[bytes]
    log: Path
    started: float


def train(study_file: Path, runs: Sequence[Run], folder: Path, cores: int) -> list[Run]:
    """Train what is missing, `cores` runs at a time; those that failed are returned."""
    waiting = [run for run in runs if not (folder / run.path).exists()]
    done, failed = len(runs) - len(waiting), []
    working: list[Job] = []
    if done:
        print(f"{done} of {len(runs)} runs are there already")
    try:
        while waiting or working:
            while waiting and len(working) < cores:
                working.append(start(study_file, waiting.pop(0), folder))
            ended = [job for job in working if job.process.poll() is not None]
            for job in ended:
                working.remove(job)
                done += 1
                if job.process.returncode:
                    failed.append(job.run)
                tell(job, done, len(runs))
            if not ended:
                time.sleep(0.05)
    finally:
        for job in working:
            job.process.terminate()
        for job in working:
            job.process.wait()
    return failed


def start(study_file: Path, run: Run, folder: Path) -> Job:
    out = folder / run.path
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".log")
    command = [
        *(sys.executable, "-m", "suite", "run", "--scale", run.scale, "--env", run.environment),
        *("--algorithm", run.algorithm, "--seed", str(run.seed), "--out", str(out)),
        *("--envs", str(study_file)),
    ]
    here = str(Path(__file__).parents[2])
    path = os.pathsep.join([here, os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - this Python with names that were checked
            command,
            stdout=file,
            stderr=file,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for this process to pass on
        )
    return Job(run, process, log, time.monotonic())


def tell(job: Job, done: int, total: int) -> None:
    *_, last = job.log.read_text(encoding="utf-8", errors="replace").splitlines() or ["no message"]
    outcome = f"failed: {last}" if job.process.returncode else last.rpartition(", ")[2]
    seconds = time.monotonic() - job.started
    name = f"{algorithm_name(job.run.algorithm)}, seed {job.run.seed}"
    print(f"[{done}/{total}] {name}: {outcome} ({seconds:.0f} s)", flush=True)
