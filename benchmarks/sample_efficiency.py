"""POWR's timesteps to threshold, one setting an environment, seven seeds: make sample-efficiency.

Runs the scale `sample-efficiency` of envs.yaml through the suite's own protocol and prints, for the
deterministic and for the sampled policy, when the threshold is first met and whether it lasts.
"""

from __future__ import annotations

import io
import statistics
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count

import pandas as pd

from suite import config
from suite.results.statistics import time_to_threshold
from suite.training import provenance
from suite.training.run import run

SCALE = "sample-efficiency"
HEADINGS = (
    "environment",
    "policy",
    "threshold",
    "reached",
    "median",
    "range",
    "final mean",
    "below in 2nd half",
    "s a run",
)


def evaluations(task: config.Run, study: dict) -> tuple[str, pd.DataFrame, float]:
    """The table of one run and the seconds it took."""
    settings = config.resolve(study, SCALE, task.environment, task.algorithm)
    csv, document, _ = run(settings, task.seed, f"{task.environment}, seed {task.seed}")
    return task.environment, pd.read_csv(io.StringIO(csv)), document["duration_seconds"]


def row(
    environment: str, policy: str, threshold: float, runs: list[tuple[pd.DataFrame, float]]
) -> tuple[str, ...]:
    """One line of the printed table: an environment and a policy over all seeds."""
    column = {"deterministic": "mean", "sampled": "sampled_mean"}[policy]
    tables = [table for table, _ in runs]
    first = sorted(time_to_threshold(t["timestep"], t[column], threshold) for t in tables)
    late = pd.concat(t[t.timestep > t.timestep.iloc[-1] / 2] for t in tables)
    return (
        environment,
        policy,
        f"{threshold:g}",
        f"{sum(time < float('inf') for time in first)} of {len(first)}",
        f"{statistics.median(first):,.0f}",
        f"{first[0]:,.0f} to {first[-1]:,.0f}",
        f"{statistics.mean(table[column].iloc[-1] for table in tables):.2f}",
        f"{(late[column] < threshold).mean():.1%}",
        f"{statistics.median(seconds for _, seconds in runs):.0f}",
    )


def main() -> None:
    study = config.load(provenance.ROOT / "envs.yaml")
    tasks = config.runs(study, SCALE)
    by_environment: dict[str, list[tuple[pd.DataFrame, float]]] = {}
    with ProcessPoolExecutor(cpu_count()) as pool:
        for environment, table, seconds in pool.map(evaluations, tasks, [study] * len(tasks)):
            by_environment.setdefault(environment, []).append((table, seconds))
    rows = [HEADINGS]
    for environment, runs in by_environment.items():
        threshold = study["environments"][environment]["thresholds"][0]
        rows += [
            row(environment, policy, threshold, runs) for policy in ("deterministic", "sampled")
        ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)))


if __name__ == "__main__":
    main()
