"""The runs of a comparison: some at a time, each in a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from suite.config import Run
from suite.names import algorithm_name


def train(study_file: Path, runs: Sequence[Run], folder: Path, cores: int) -> list[Run]:
    """Train what is missing, `cores` runs at a time; those that failed are returned."""
    waiting = [run for run in runs if not (folder / run.path).exists()]
    done, failed = len(runs) - len(waiting), []
    working: dict[Run, subprocess.Popen[bytes]] = {}
    if done:
        print(f"{done} of {len(runs)} runs are there already")
    try:
        while waiting or working:
            while waiting and len(working) < cores:
                working[waiting[0]] = start(study_file, waiting[0], folder)
                del waiting[0]
            for run in [run for run, process in working.items() if process.poll() is not None]:
                process = working.pop(run)
                log = (folder / run.path).with_suffix(".log")
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                last = lines[-1] if lines else "no message"
                outcome = f"failed: {last}" if process.returncode else last.rpartition(", ")[2]
                failed += [run] if process.returncode else []
                done += 1
                name = f"{algorithm_name(run.algorithm)}, seed {run.seed}"
                print(f"[{done}/{len(runs)}] {name}: {outcome}", flush=True)
            time.sleep(0.05)
    finally:
        for process in working.values():
            process.terminate()
        for process in working.values():
            process.wait()
    return failed


def start(study_file: Path, run: Run, folder: Path) -> subprocess.Popen[bytes]:
    out = folder / run.path
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, "-m", "suite", "run", "--scale", run.scale, "--env", run.environment),
        *("--algorithm", run.algorithm, "--seed", str(run.seed), "--out", str(out)),
        *("--envs", str(study_file)),
    ]
    here = str(Path(__file__).parents[2])
    path = os.pathsep.join([here, os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    with out.with_suffix(".log").open("wb") as file:
        return subprocess.Popen(  # noqa: S603 - this Python with names that were checked
            command,
            stdout=file,
            stderr=file,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for this process to pass on
        )
