"""Time and memory of OptimisticPOWR over 200,000 timesteps, settings as in envs.yaml.

    python -m benchmarks.long_run [--timesteps N] [--env NAME ...] [--out FOLDER]

Prints the table and writes it as CSV. It takes about two CPU minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import threadpoolctl
from optimistic_powr import OptimisticPOWR

from benchmarks.measure import MIB, RESULTS, Table, in_own_process, publish
from powr.command.options import count
from suite import config
from suite.training import algorithms, provenance

DOUBLINGS = 6
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3", "MountainCar-v0")


def train(name: str, timesteps: int) -> list[dict[str, Any]]:
    """What one agent has taken at each doubling of the timesteps."""
    study = config.load(provenance.ROOT / "extension/study.yaml")
    combination = study.scales["sample-efficiency"].combination(name, "optimistic-powr")
    learn = algorithms.build(combination.settings, {"agent": 0})
    due = [timesteps >> k for k in reversed(range(DOUBLINGS + 1))]
    rows: list[dict[str, Any]] = []

    def log(agent: OptimisticPOWR) -> bool:
        if agent.num_timesteps == due[len(rows)]:
            row = {"environment": name, "timesteps": agent.num_timesteps}
            row["CPU s"] = time.process_time() - start
            row["resident MiB"] = provenance.resident_memory_bytes() / MIB
            row["peak MiB"] = provenance.peak_memory_bytes() / MIB
            rows.append(row | {"plans": agent.n_plans_})
        return len(rows) < len(due)

    start = time.process_time()
    with threadpoolctl.threadpool_limits(1):
        learn(timesteps, callback=log)
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--timesteps", type=count, default=200_000, help="default: %(default)s")
    parser.add_argument("--env", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=RESULTS, help="default: benchmarks/results")
    options = parser.parse_args(arguments)
    question = f"One agent for {options.timesteps:,} timesteps, seed 0, each environment a process"
    runs = [
        in_own_process("benchmarks.long_run:train", name, options.timesteps) for name in options.env
    ]
    publish(Table("long-run", question, [row for run in runs for row in run]), options.out)


if __name__ == "__main__":
    main()
