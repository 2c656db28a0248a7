"""ladder.csv: every algorithm's way to the first threshold, and what it cost.

One row per environment and algorithm of a scale, and one more for the sampled policy of the paper's
POWR: timesteps to the threshold over seeds, and the seconds of training that they took.

    python -m suite ladder --scale quick
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite.config.kinds import POWR
from suite.results import aggregate, arrivals

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


def ladder(study: Mapping[str, Any], scale: str, results: Path) -> pd.DataFrame:
    """One row per environment, algorithm and policy, of the runs that are there."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    runs = aggregate.read_arrivals(results / scale, loaded)
    plan = aggregate.plan(study, scale)
    thresholds = {}
    for environment in dict.fromkeys(planned.environment for planned in plan):
        block = study["environments"][environment]
        thresholds[environment] = block["thresholds"][0]
    training = {
        (run.environment, run.algorithm, run.seed): read_training(metadata)
        for run, metadata in loaded.metadata.items()
    }
    rows = []
    for planned in plan:
        environment, algorithm = planned.environment, planned.algorithm
        # The authors evaluate the sampled policy of POWR, so POWR is shown by both.
        for policy in arrivals.POLICIES if planned.kind == POWR else ["deterministic"]:
            arrived = arrivals.select(runs, environment, algorithm, thresholds[environment], policy)
            own = [training[environment, algorithm, seed] for seed in arrived["seed"]]
            rows.append(
                {
                    "environment": environment,
                    "algorithm": algorithm,
                    "policy": policy,
                    "kind": planned.kind,
                    "threshold": thresholds[environment],
                    "first_evaluation": planned.timesteps[0],
                    "timesteps": planned.timesteps[-1],
                    "seeds": len(arrived),
                    "seeds_planned": planned.seeds,
                    **(_times(arrived, own) if own else {"n_reached": 0}),
                }
            )
    return pd.DataFrame(rows)


def _times(arrived: pd.DataFrame, training: Sequence[Training]) -> dict[str, Any]:
    first = arrivals.as_times(arrived[arrivals.FIRST])
    seconds = [own.seconds.get(time, math.inf) for own, time in zip(training, first, strict=True)]
    return {
        "n_reached": int(np.isfinite(first).sum()),
        "median": arrivals.median_cell(first),
        "earliest": arrivals.as_cell(first.min()),
        "latest": arrivals.as_cell(first.max()),
        "median_lasting": arrivals.median_cell(arrivals.as_times(arrived[arrivals.LASTING])),
        "seconds_to_threshold": arrivals.median_cell(seconds),
        "seconds_in_all": float(np.median([max(own.seconds.values()) for own in training])),
        "measured_by": CPU if all(own.measured_by == CPU for own in training) else CLOCK,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    return aggregate.write_table("ladder", __doc__, ladder, arguments)
