"""ladder.csv: every algorithm's way to the first threshold, the floor, and what it cost.

One row per environment and algorithm of a scale, and one more for the sampled policy of the paper's
POWR: timesteps to the threshold over seeds, and the seconds of training that they took. The floor
is the fewest timesteps any learner could need (suite/floor).

    python -m suite ladder --scale quick
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite.config.kinds import POWR
from suite.floor import Floor, floor
from suite.results import aggregate, arrivals
from suite.results.cost import seconds_until
from suite.results.run_file import told_by_json
from suite.results.summary import Planned
from suite.training import environments

CPU, CLOCK = "CPU", "clock"
# The keys of a run's JSON that hold the time until an evaluation, and that of the evaluation.
TIMES = {
    CPU: ("cpu_seconds", "evaluation_cpu_seconds"),
    CLOCK: ("seconds", "evaluation_seconds"),
}


class Training(NamedTuple):
    """Seconds of training until each evaluation, without the evaluations."""

    seconds: Mapping[int, float]
    measured_by: str  # CPU or CLOCK


def read_training(path: Path, metadata: Mapping[str, Any]) -> Training:
    """CPU time where the run recorded it, else by the clock.

    Until the first evaluation always by the clock, since the CPU time there holds the start of
    Python too.
    """
    with told_by_json(path):
        rows = metadata["evaluations"]
        measured_by = CPU if "cpu_seconds" in rows[0] else CLOCK
        total, evaluating = TIMES[measured_by]
        spent = np.array([float(row[total]) for row in rows])
        paused = np.cumsum([float(row[evaluating]) for row in rows])
        before_first = float(rows[0]["seconds"]) - float(rows[0]["evaluation_seconds"])
        training = before_first + (spent - spent[0]) - (paused - paused[0])
        timesteps = [int(row["timestep"]) for row in rows]
        return Training(dict(zip(timesteps, training.tolist(), strict=True)), measured_by)


def tabulate(
    plan: Sequence[Planned],
    runs: pd.DataFrame,
    thresholds: Mapping[str, float],
    floors: Mapping[str, Floor],
    training: Mapping[tuple[str, str, int], Training],
) -> pd.DataFrame:
    """One row per environment, algorithm and policy; `runs` is runs.csv, `training` has all."""
    rows = []
    # The authors evaluate the sampled policy of POWR, so it is shown by both.
    shown = [
        (each, policy)
        for each in plan
        for policy in arrivals.POLICIES
        if policy == "deterministic" or each.kind == POWR
    ]
    for planned, policy in shown:
        environment, algorithm = planned.environment, planned.algorithm
        arrived = arrivals.select(runs, environment, algorithm, thresholds[environment], policy)
        own = [training[environment, algorithm, seed] for seed in arrived["seed"]]
        rows.append(
            {
                "environment": environment,
                "algorithm": algorithm,
                "policy": policy,
                "kind": planned.kind,
                "threshold": thresholds[environment],
                "floor_low": floors[environment].lower,
                "floor_high": floors[environment].upper,
                "first_evaluation": planned.timesteps[0],
                "timesteps": planned.timesteps[-1],
                "seeds": len(arrived),
                "seeds_planned": planned.seeds,
                **(_times(arrived, own) if own else {"n_reached": 0}),
            }
        )
    table = pd.DataFrame(rows)
    return table.astype({"floor_low": "Int64", "floor_high": "Int64"})


def _times(arrived: pd.DataFrame, training: Sequence[Training]) -> dict[str, Any]:
    first, lasting = (
        arrivals.as_times(arrived[name]) for name in (arrivals.FIRST, arrivals.LASTING)
    )
    spent = seconds_until(first, [own.seconds for own in training])
    return {
        "n_reached": int(np.isfinite(first).sum()),
        "median": arrivals.median_cell(first),
        "earliest": arrivals.as_cell(first.min()),
        "latest": arrivals.as_cell(first.max()),
        "median_lasting": arrivals.median_cell(lasting),
        "seconds_to_threshold": arrivals.median_cell(spent),
        "seconds_in_all": float(np.median([max(own.seconds.values()) for own in training])),
        "measured_by": CPU if all(own.measured_by == CPU for own in training) else CLOCK,
    }


def ladder(study: Mapping[str, Any], scale: str, results: Path) -> pd.DataFrame:
    """The table of the runs that are there."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    plan = aggregate.plan(study, scale)
    blocks = {planned.environment: study["environments"][planned.environment] for planned in plan}
    thresholds = {name: block["thresholds"][0] for name, block in blocks.items()}
    floors = {
        name: floor(environments.make(block), thresholds[name]) for name, block in blocks.items()
    }
    training = {
        (run.environment, run.algorithm, run.seed): read_training(results / run.path, metadata)
        for run, metadata in loaded.metadata.items()
    }
    runs = aggregate.read_arrivals(results / scale, loaded)
    return tabulate(plan, runs, thresholds, floors, training)


def main(arguments: Sequence[str] | None = None) -> int:
    return aggregate.write_table("ladder", __doc__, ladder, arguments)
