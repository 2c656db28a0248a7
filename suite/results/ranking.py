"""ranking.csv and cost.csv: every algorithm's timesteps to the first threshold, and what it took.

The ranking has one row per environment and algorithm of a scale, and one more for the sampled
policy of the paper's POWR. Seconds are of training, without evaluations. In cost.csv times are by
the clock: they differ between machines, and on a shared core they include waiting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite.config import Run
from suite.config.models import POWR
from suite.names import algorithm_name
from suite.results import arrivals
from suite.results.summary import Planned

CPU, CLOCK = "CPU", "clock"


class Training(NamedTuple):
    """Seconds of training until each evaluation, without the evaluations."""

    seconds: Mapping[int, float]
    measured_by: str  # CPU or CLOCK


def read_training(metadata: Mapping[str, Any]) -> Training:
    """CPU time where the run recorded it, else by the clock.

    Until the first evaluation always by the clock, since the CPU time there holds the start of
    Python too.
    """
    rows = metadata["evaluations"]
    measured_by, prefix = (CPU, "cpu_") if "cpu_seconds" in rows[0] else (CLOCK, "")
    spent = np.array([row[f"{prefix}seconds"] for row in rows])
    paused = np.cumsum([row[f"evaluation_{prefix}seconds"] for row in rows])
    before_first = rows[0]["seconds"] - rows[0]["evaluation_seconds"]
    training = before_first + (spent - spent[0]) - (paused - paused[0])
    timesteps = [row["timestep"] for row in rows]
    return Training(dict(zip(timesteps, training.tolist(), strict=True)), measured_by)


def rank(
    plan: Sequence[Planned],
    thresholds_of: Mapping[str, Sequence[float]],
    runs: pd.DataFrame,
    metadata: Mapping[Run, Mapping[str, Any]],
) -> pd.DataFrame:
    """One row per environment, algorithm and policy, of the finished runs; `runs` is runs.csv."""
    training = {run[1:4]: read_training(document) for run, document in metadata.items()}
    rows = []
    for planned in plan:
        environment, algorithm = planned.environment, planned.algorithm
        threshold = thresholds_of[environment][0]
        # The authors evaluate the sampled policy of POWR, so POWR is shown by both.
        for policy in arrivals.POLICIES if planned.kind == POWR else ["deterministic"]:
            arrived = arrivals.select(runs, environment, algorithm, threshold, policy)
            spent = [training[environment, algorithm, seed] for seed in arrived["seed"]]
            rows.append(
                {
                    "environment": environment,
                    "algorithm": algorithm,
                    "policy": policy,
                    "kind": planned.kind,
                    "threshold": threshold,
                    "first_evaluation": planned.timesteps[0],
                    "timesteps": planned.timesteps[-1],
                    "seeds": len(arrived),
                    "seeds_planned": planned.seeds,
                    **(_times(arrived, spent) if spent else {"n_reached": 0}),
                }
            )
    return pd.DataFrame(rows)


def _times(arrived: pd.DataFrame, training: Sequence[Training]) -> dict[str, Any]:
    first = arrivals.as_times(arrived[arrivals.FIRST])
    seconds = [run.seconds.get(time, math.inf) for run, time in zip(training, first, strict=True)]
    return {
        "n_reached": int(np.isfinite(first).sum()),
        "median": arrivals.median_cell(first),
        "earliest": arrivals.as_cell(first.min()),
        "latest": arrivals.as_cell(first.max()),
        "median_lasting": arrivals.median_cell(arrivals.as_times(arrived[arrivals.LASTING])),
        "seconds_to_threshold": arrivals.median_cell(seconds),
        "seconds_in_all": float(np.median([max(run.seconds.values()) for run in training])),
        "measured_by": CPU if all(run.measured_by == CPU for run in training) else CLOCK,
    }


def cost(plan: Sequence[Planned], metadata: Mapping[Run, Mapping[str, Any]]) -> pd.DataFrame:
    """What the finished runs of each algorithm on each environment took, one core per run."""
    rows = []
    for planned in plan:
        documents = [
            document
            for run, document in metadata.items()
            if (run.environment, run.algorithm) == planned[:2]
        ]
        budget = planned.timesteps[-1]
        row: dict[str, Any] = {
            "environment": planned.environment,
            "algorithm": planned.algorithm,
            "runs": len(documents),
            "timesteps": budget,
        }
        if documents:
            evaluating = [
                sum(entry["evaluation_seconds"] for entry in document["evaluations"])
                for document in documents
            ]
            training = sum(
                document["evaluations"][-1]["seconds"] - seconds
                for document, seconds in zip(documents, evaluating, strict=True)
            )
            row |= {
                "timesteps_per_second": len(documents) * budget / training,
                "evaluation_share": sum(evaluating) / (training + sum(evaluating)),
                "wall_hours": sum(document["duration_seconds"] for document in documents) / 3600,
                "peak_memory_mb": max(each["peak_memory_bytes"] for each in documents) / 1e6,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def cost_text(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of cost.csv on one environment to read, the head first."""
    head = ("algorithm", "timesteps per second", "hours by the clock", "peak memory")
    rows = [
        (
            algorithm_name(row.algorithm),
            f"{row.timesteps_per_second:,.0f}",
            f"{row.wall_hours:,.3f}",
            f"{row.peak_memory_mb:,.0f} MB",
        )
        if row.runs
        else (algorithm_name(row.algorithm), *["no run"] * 3)
        for row in table.itertuples()
    ]
    return [head, *rows]


def duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
