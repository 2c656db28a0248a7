"""Time and memory of OptimisticPOWR over 200,000 timesteps, settings as in envs.yaml.

    python -m benchmarks.long_run [--timesteps N] [--env NAME ...] [--out FOLDER]

Prints the table and writes it as CSV. It takes about two CPU minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import threadpoolctl

from benchmarks.growth import MIB
from benchmarks.measure import in_own_process
from benchmarks.table import RESULTS, Table, publish
from powr import OptimisticPOWR
from powr.command.options import count
from suite import config
from suite.training import algorithms, provenance

DOUBLINGS = 7
SCALE = "paper"
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3", "MountainCar-v0")


def train(name: str, timesteps: int) -> list[dict[str, Any]]:
    """What one agent has taken at each doubling."""
    study = config.load(provenance.ROOT / "envs.yaml")
    learn = algorithms.build(config.resolve(study, SCALE, name, "optimistic-powr"), {"agent": 0})
    due = [timesteps >> k for k in reversed(range(DOUBLINGS))]
    rows: list[dict[str, Any]] = []

    def log(agent: OptimisticPOWR) -> bool:
        if agent.num_timesteps == due[len(rows)]:
            row = {"timesteps": agent.num_timesteps, "cpu_seconds": time.process_time()}
            row["resident_bytes"] = provenance.resident_memory_bytes()
            row["peak_bytes"] = provenance.peak_memory_bytes()
            rows.append({**row, "plans": agent.n_plans_})
            print(f"{name}: {rows[-1]}", file=sys.stderr, flush=True)
        return len(rows) < len(due)

    with threadpoolctl.threadpool_limits(1):
        learn(timesteps, callback=log)
    return rows


def stretches(environment: str, points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per doubling: what the timesteps since the last one took."""
    return [
        {
            "environment": environment,
            "timesteps": point["timesteps"],
            "CPU s per 1,000": 1000
            * (point["cpu_seconds"] - before["cpu_seconds"])
            / (point["timesteps"] - before["timesteps"]),
            "exponent": exponent(points, k),
            "resident MiB": point["resident_bytes"] / MIB,
            "peak MiB": point["peak_bytes"] / MIB,
            "plans": point["plans"],
        }
        for k, (before, point) in enumerate(pairwise(points), start=1)
    ]


def exponent(points: list[dict[str, Any]], k: int) -> float | None:
    """By which power of the timesteps the time per timestep grew with the last doubling."""
    if k < 2:
        return None
    earlier, before, now = (point["cpu_seconds"] for point in points[k - 2 : k + 1])
    return math.log2((now - before) / (before - earlier)) - 1


def table(environments: list[str], timesteps: int) -> Table:
    rows = [
        row
        for name in environments
        for row in stretches(name, in_own_process("benchmarks.long_run:train", name, timesteps))
    ]
    return Table(
        "long-run",
        f"One agent for {timesteps:,} timesteps, seed 0, each environment a process",
        rows,
        (
            "CPU s per 1,000: those since the line above, planning included. Exponent: growth of "
            "the time per timestep with the last doubling, 0 where it is bounded.",
        ),
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--timesteps", type=count, default=200_000, help="default: %(default)s")
    parser.add_argument("--env", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=RESULTS, help="default: benchmarks/results")
    options = parser.parse_args(arguments)
    publish(table(options.env, options.timesteps), options.out)


if __name__ == "__main__":
    main()
