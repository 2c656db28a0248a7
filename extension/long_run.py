"""Time and memory of OptimisticPOWR over 200,000 timesteps, settings as in the study.

    python extension/long_run.py [--timesteps N] [--env NAME ...] [--out FILE]

Prints the table and writes it as CSV. It takes about two CPU minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pandas as pd
import threadpoolctl
from optimistic_powr import OptimisticPOWR

from suite import config
from suite.command import write_together
from suite.training import algorithms, provenance

DOUBLINGS = 6
MIB = 2**20
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3", "MountainCar-v0")
OUT = Path(__file__).parent / "results" / "long-run.csv"


def train(name: str, timesteps: int) -> list[dict[str, Any]]:
    """What one agent has taken at each doubling of the timesteps."""
    study = config.load(provenance.ROOT / "extension/study.yaml")
    combination = study.combination("sample-efficiency", name, "optimistic-powr")
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timesteps", type=int, default=200_000, help="default: %(default)s")
    parser.add_argument("--env", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    processes = multiprocessing.get_context("spawn")
    rows = []
    for name in options.env:  # each in a process whose memory is its own
        with processes.Pool(1) as pool:
            rows += pool.apply(train, (name, options.timesteps))
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:,.3g}".format))
    write_together({options.out: table.to_csv(index=False)})


if __name__ == "__main__":
    main()
