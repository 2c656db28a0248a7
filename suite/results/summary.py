"""summary.csv: what the seeds of each algorithm say together.

One row per environment, algorithm, policy and threshold. The policy is the deterministic one, and
where it was recorded also the one that samples its actions, which the paper's authors evaluate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from suite.config.models import LIBRARY
from suite.results import arrivals, statistics

# A percentile bootstrap stays within the range of the seeds, and the range of n seeds holds their
# median with probability 1 - 2 ** (1 - n): 94% for five.
FEWEST_SEEDS_FOR_INTERVAL = 6


class Planned(NamedTuple):
    """The runs of one algorithm on one environment as envs.yaml plans them."""

    environment: str
    algorithm: str
    seeds: int
    timesteps: list[int]  # of the evaluations; the last one is the budget
    kind: str = ""
    source: str = LIBRARY  # of its settings


class Bounds(NamedTuple):
    """Exact returns of two policies; NaN where there is no transition table."""

    uniform: float = math.nan
    optimum: float = math.nan


def summarise(
    evaluations: pd.DataFrame,
    arrived: pd.DataFrame,
    plan: Sequence[Planned],
    thresholds_of: Mapping[str, Sequence[float]],
    bounds_of: Mapping[str, Bounds],
) -> pd.DataFrame:
    """One row per environment, algorithm, policy and threshold, also where no run is there.

    `arrived` is runs.csv.
    """
    rows = []
    for planned in plan:
        environment, algorithm = planned.environment, planned.algorithm
        runs = evaluations.query("environment == @environment and algorithm == @algorithm")
        last = runs[runs["timestep"] == runs["timestep"].max()]
        for policy, (column, exact_column) in arrivals.POLICIES.items():
            if policy != "deterministic" and not runs[column].notna().any():
                continue
            whole = bounds_of[environment]._asdict()
            if len(last):
                whole = {**_range("final", last[column]), **_interquartile(last[column]), **whole}
            if last[exact_column].notna().any():
                whole |= _range("exact", last[exact_column])
            for threshold in thresholds_of[environment]:
                own = arrivals.select(arrived, environment, algorithm, threshold, policy)
                rows.append(
                    {
                        "environment": environment,
                        "algorithm": algorithm,
                        "kind": planned.kind,
                        "source": planned.source,
                        "policy": policy,
                        "seeds": len(last),
                        "seeds_planned": planned.seeds,
                        "timesteps": planned.timesteps[-1],
                        "threshold": threshold,
                        **(_times(own) if len(own) else {"n_reached": 0, "n_lasting": 0}),
                        **whole,
                    }
                )
    return pd.DataFrame(rows)


def _times(runs: pd.DataFrame) -> dict[str, float]:
    first, lasting = (arrivals.as_times(runs[name]) for name in (arrivals.FIRST, arrivals.LASTING))
    return {
        "n_reached": int(np.isfinite(first).sum()),
        **_median("timesteps_to_threshold", first),
        "earliest": arrivals.as_cell(min(first)),
        "latest": arrivals.as_cell(max(first)),
        "n_lasting": int(np.isfinite(lasting).sum()),
        **_median("timesteps_to_lasting", lasting),
    }


def _median(name: str, times: np.ndarray) -> dict[str, float]:
    interval = statistics.median_interval(times)
    return {
        name: arrivals.median_cell(times),
        f"{name}_low": arrivals.as_cell(interval.low),
        f"{name}_high": arrivals.as_cell(interval.high),
    }


def _range(name: str, values: pd.Series) -> dict[str, float]:
    return {f"{name}_{statistic}": values.agg(statistic) for statistic in ("mean", "min", "max")}


def _interquartile(values: pd.Series) -> dict[str, float]:
    enough = len(values) >= FEWEST_SEEDS_FOR_INTERVAL
    interval = statistics.bootstrap_interval(values) if enough else statistics.NO_INTERVAL
    return {
        "final_iqm": float(statistics.interquartile_mean(values)),
        "final_iqm_low": interval.low,
        "final_iqm_high": interval.high,
    }
