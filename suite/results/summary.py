"""summary.csv: what the seeds of each algorithm say together.

One row an environment, algorithm, policy and threshold. The policy is the deterministic one, and
for POWR also the one that samples its actions, which is what the paper's authors evaluate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from suite.claims.verdicts import NO_INTERVAL
from suite.results import statistics

RETURN_COLUMNS = {
    "deterministic": ("mean", "exact_return"),
    "sampled": ("sampled_mean", "sampled_exact_return"),
}
# A percentile bootstrap stays within the range of the seeds, and the range of n seeds holds their
# median with probability 1 - 2 ** (1 - n): 94% for five.
FEWEST_SEEDS_FOR_INTERVAL = 6


class Planned(NamedTuple):
    """The runs of one algorithm on one environment as envs.yaml plans them."""

    environment: str
    algorithm: str
    seeds: int
    timesteps: list[int]  # of the evaluations; the last one is the budget


class Bounds(NamedTuple):
    """Exact returns that normalise a score; NaN where there is no transition table."""

    uniform: float = math.nan
    optimum: float = math.nan


def summarise(
    evaluations: pd.DataFrame,
    plan: Sequence[Planned],
    thresholds_of: Mapping[str, Sequence[float]],
    bounds_of: Mapping[str, Bounds],
) -> pd.DataFrame:
    """One row an environment, algorithm, policy and threshold, also where no run is there."""
    rows = []
    for planned in plan:
        environment, algorithm = planned.environment, planned.algorithm
        runs = evaluations.query("environment == @environment and algorithm == @algorithm")
        shared = shared_timestep(plan, environment)
        for policy, (column, exact_column) in RETURN_COLUMNS.items():
            if policy != "deterministic" and not runs[column].notna().any():
                continue
            returns = runs.pivot(index="timestep", columns="seed", values=column)
            exact = runs.pivot(index="timestep", columns="seed", values=exact_column)
            whole = {
                **_final_returns(returns),
                **_exact_returns(exact, bounds_of[environment]),
                **_areas(returns, shared),
            }
            for threshold in thresholds_of[environment]:
                rows.append(
                    {
                        "environment": environment,
                        "algorithm": algorithm,
                        "policy": policy,
                        "seeds": returns.shape[1],
                        "seeds_planned": planned.seeds,
                        "timesteps": planned.timesteps[-1],
                        "threshold": threshold,
                        **_times(returns, threshold),
                        **whole,
                    }
                )
    return pd.DataFrame(rows)


def shared_timestep(plan: Iterable[Planned], environment: str) -> int:
    """The last timestep at which every algorithm of the environment is evaluated."""
    grids = [set(planned.timesteps) for planned in plan if planned.environment == environment]
    return max(set.intersection(*grids), default=0)


def _times(returns: pd.DataFrame, threshold: float) -> dict[str, float]:
    times = [
        statistics.time_to_threshold(returns.index, returns[seed], threshold) for seed in returns
    ]
    if not times:
        return {"reached": 0}
    interval = statistics.median_interval(times)
    return {
        "reached": int(np.isfinite(times).sum()),
        "median_timestep": statistics.censored_median(times),
        "median_low": interval.low,
        "median_high": interval.high,
        "earliest": min(times),
        "latest": max(times),
    }


def _final_returns(returns: pd.DataFrame) -> dict[str, float]:
    if returns.empty:
        return {}
    final = returns.iloc[-1]
    return {
        "final_mean": final.mean(),
        "final_min": final.min(),
        "final_max": final.max(),
        **_interquartile("final", final),
    }


def _exact_returns(exact: pd.DataFrame, bounds: Bounds) -> dict[str, float]:
    columns = {"uniform": bounds.uniform, "optimum": bounds.optimum}
    if exact.empty or exact.isna().to_numpy().any():
        return columns
    final = exact.iloc[-1]
    score = statistics.normalised_score(final, bounds.uniform, bounds.optimum)
    return {
        **columns,
        "exact_mean": final.mean(),
        "exact_min": final.min(),
        "exact_max": final.max(),
        **_interquartile("normalised", score),
    }


def _areas(returns: pd.DataFrame, until: int) -> dict[str, float]:
    columns = {"area_until": until}
    shared = returns[returns.index <= until]
    if len(shared) < 2:
        return columns
    areas = [statistics.area_under_curve(shared.index, shared[seed]) for seed in shared]
    return {**columns, **_interquartile("area", areas)}


def _interquartile(name: str, values: Sequence[float]) -> dict[str, float]:
    enough = len(values) >= FEWEST_SEEDS_FOR_INTERVAL
    interval = statistics.bootstrap_interval(values) if enough else NO_INTERVAL
    return {
        f"{name}_iqm": float(statistics.interquartile_mean(values)),
        f"{name}_iqm_low": interval.low,
        f"{name}_iqm_high": interval.high,
    }
