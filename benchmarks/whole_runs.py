"""Whole runs of the study as the workflow starts them, evaluation and start-up included."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Spread
from benchmarks.table import Table
from suite import config
from suite.training import provenance

NAME = "whole-runs"
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3", "MountainCar-v0")
ALGORITHMS = ("powr", "optimistic-powr")


def tables(quick: bool, repeats: int) -> list[Table]:
    scale = "smoke" if quick else "paper"
    study = config.load(provenance.ROOT / "envs.yaml")
    rows = [
        {
            "environment": environment,
            "algorithm": algorithm,
            "timesteps": config.resolve(study, scale, environment, algorithm)["timesteps"],
            **spreads([measure(scale, environment, algorithm, seed) for seed in range(repeats)]),
        }
        for environment in (ENVIRONMENTS[:1] if quick else ENVIRONMENTS)
        for algorithm in ALGORITHMS
    ]
    return [
        Table(
            NAME,
            f"Whole runs at scale {scale}, seeds 0 to {repeats - 1}, each a process",
            rows,
            ("By the clock the run also waits for a core where the machine is busy.",),
        )
    ]


def measure(scale: str, environment: str, algorithm: str, seed: int) -> dict[str, float]:
    print(f"{algorithm} on {environment}, seed {seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.csv"
        command = [sys.executable, "-m", "suite", "run", "--scale", scale]
        command += ["--env", environment, "--algorithm", algorithm]
        command += ["--seed", str(seed), "--out", str(out)]
        start, cpu_start = time.perf_counter(), cpu_of_children()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, cwd=provenance.ROOT)  # noqa: S603
        cpu_seconds, seconds = cpu_of_children() - cpu_start, time.perf_counter() - start
        document = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    evaluation = sum(entry["evaluation_seconds"] for entry in document["evaluations"])
    return {
        "seconds": cpu_seconds,
        "by the clock": seconds,
        "share of evaluation": evaluation / document["duration_seconds"],
    }


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spreads(measurements: list[dict[str, float]]) -> dict[str, Any]:
    return {key: Spread.of(m[key] for m in measurements) for key in measurements[0]}
