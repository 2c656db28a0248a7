"""runs.csv: when each run arrived at each threshold, the one place that computes it.

One row per environment, algorithm, policy, seed and threshold. *First arrival* is the first
evaluation at or above the threshold. *Lasting arrival* is the first one at or above it from which
on at most one evaluation in twenty falls below it. A run that never arrives is censored by its
budget, the column `timesteps`.

"Never" is an empty cell in every table and NaN in every data frame. Only statistics that need an
order see it as infinity, by `as_times`; `as_cell` is the way back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from suite.results.statistics import time_to_threshold

FIRST, LASTING = "first_arrival", "lasting_arrival"  # columns of timesteps
# The columns of a run file that hold each policy's mean and exact return.
POLICIES = {
    "deterministic": ("mean", "exact_return"),
    "sampled": ("sampled_mean", "sampled_exact_return"),
}
LAPSES = 1 / 20  # evaluations below the threshold that a lasting arrival allows


def tabulate(
    evaluations: pd.DataFrame, thresholds_of: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """The arrivals of runs; a policy that a run did not record has no row."""
    varied = ["combination"] if "combination" in evaluations else []
    rows = []
    by_run = evaluations.groupby(["environment", "algorithm", *varied, "seed"], sort=False)
    for (environment, algorithm, *digest, seed), run in by_run:
        timesteps = run["timestep"].to_numpy()
        for policy, (column, _) in POLICIES.items():
            if column not in run or run[column].isna().any():
                continue
            for threshold in thresholds_of[environment]:
                arrived = (
                    time_to_threshold(timesteps, run[column], threshold),
                    time_to_lasting(timesteps, run[column], threshold),
                )
                key = (environment, algorithm, *digest, policy, seed, threshold)
                rows.append((*key, timesteps[-1], *map(as_cell, arrived)))
    names = ["environment", "algorithm", *varied, "policy", "seed", "threshold", "timesteps"]
    table = pd.DataFrame(rows, columns=[*names, FIRST, LASTING])
    return table.astype({FIRST: "Int64", LASTING: "Int64"})


def time_to_lasting(timesteps: ArrayLike, returns: ArrayLike, threshold: float) -> float:
    """Timesteps of the lasting arrival; infinite if there is none."""
    arrived = np.asarray(returns, dtype=float) >= threshold
    remaining = np.arange(len(arrived), 0, -1)
    lapses = np.cumsum(~arrived[::-1])[::-1]
    lasting = arrived & (lapses <= LAPSES * remaining)
    return float(np.asarray(timesteps)[np.argmax(lasting)]) if lasting.any() else math.inf


def select(
    table: pd.DataFrame,
    environment: str,
    algorithm: str,
    threshold: float | None = None,
    policy: str = "deterministic",
) -> pd.DataFrame:
    """The rows of one algorithm's runs: one per seed, or per threshold and seed without one."""
    return table[
        (table["environment"] == environment)
        & (table["algorithm"] == algorithm)
        & (table["policy"] == policy)
        & ((threshold is None) | (table["threshold"] == threshold))
    ]


def as_times(column: pd.Series) -> np.ndarray:
    """Numbers that can be ordered: never is later than every timestep."""
    return column.astype(float).fillna(math.inf).to_numpy()


def as_cell(time: float) -> float:
    return math.nan if math.isinf(time) else time


def median_cell(times: np.ndarray) -> float:
    """The median, in which never is later than all; empty if half of the runs never arrive."""
    return as_cell(float(np.median(times)))
