"""summary.csv: what the seeds of each algorithm say together.

One row per environment, algorithm, policy and threshold. The policy is the deterministic one, and
where it was recorded also the one that samples its actions, which the paper's authors evaluate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from suite.config.kinds import DEEP_OF_SOURCE, LIBRARY, POWR
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
    first_update: int = 0  # until then the policy is the untrained one
    kind: str = ""
    source: str = LIBRARY  # of its settings


class Bounds(NamedTuple):
    """Exact returns that normalise a score; NaN where there is no transition table."""

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
        window = shared_window(plan, environment)
        for policy, (column, exact_column) in arrivals.POLICIES.items():
            if policy != "deterministic" and not runs[column].notna().any():
                continue
            returns = runs.pivot(index="timestep", columns="seed", values=column)
            exact = runs.pivot(index="timestep", columns="seed", values=exact_column)
            whole = {
                **_final_returns(returns),
                **_exact_returns(exact, bounds_of[environment]),
                **_areas(returns, window, planned),
            }
            for threshold in thresholds_of[environment]:
                rows.append(
                    {
                        "environment": environment,
                        "algorithm": algorithm,
                        "kind": planned.kind,
                        "source": planned.source,
                        "policy": policy,
                        "seeds": returns.shape[1],
                        "seeds_planned": planned.seeds,
                        "timesteps": planned.timesteps[-1],
                        "threshold": threshold,
                        **_times(
                            arrivals.select(arrived, environment, algorithm, threshold, policy)
                        ),
                        **whole,
                    }
                )
    return pd.DataFrame(rows)


def shared_window(plan: Iterable[Planned], environment: str) -> tuple[int, int]:
    """Between which timesteps the curves of an environment's algorithms are compared.

    The first and the last timestep at which POWR and the baselines with library defaults, those of
    the paper's figures, are all evaluated after their first updates. Before these a curve shows an
    untrained policy. Other algorithms do not count, so a short training of theirs cuts nothing off.
    """
    here = [planned for planned in plan if planned.environment == environment]
    shown = (POWR, DEEP_OF_SOURCE[LIBRARY])
    own = [planned for planned in here if planned.kind in shown] or here
    untrained = max(planned.first_update for planned in own)
    common = set.intersection(*(set(planned.timesteps) for planned in own))
    window = [timestep for timestep in common if timestep > untrained]
    return min(window, default=0), max(window, default=0)


def _times(runs: pd.DataFrame) -> dict[str, float]:
    first, lasting = (arrivals.as_times(runs[name]) for name in (arrivals.FIRST, arrivals.LASTING))
    if not len(runs):
        return {"n_reached": 0, "n_lasting": 0}
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


def _final_returns(returns: pd.DataFrame) -> dict[str, float]:
    if returns.empty:
        return {}
    final = returns.iloc[-1]
    return {**_range("final", final), **_interquartile("final", final)}


def _exact_returns(exact: pd.DataFrame, bounds: Bounds) -> dict[str, float]:
    if exact.empty or exact.isna().to_numpy().any():
        return bounds._asdict()
    final = exact.iloc[-1]
    score = np.asarray(statistics.normalised_score(final, *bounds))
    return {
        **bounds._asdict(),
        **_range("exact", final),
        **_interquartile("normalised", score),
    }


def _areas(returns: pd.DataFrame, window: tuple[int, int], planned: Planned) -> dict[str, float]:
    """The areas of an algorithm that learns over the whole window; of any other there is none."""
    begin, end = window
    columns: dict[str, float] = {"area_from": begin, "area_until": end}
    shared = returns[(returns.index >= begin) & (returns.index <= end)]
    covers = planned.first_update < begin and planned.timesteps[-1] >= end
    if len(shared) < 2 or not covers:
        return columns
    areas = [statistics.area_under_curve(shared.index, shared[seed]) for seed in shared]
    return {**columns, **_interquartile("area", areas)}


def _range(name: str, values: pd.Series) -> dict[str, float]:
    return {f"{name}_{statistic}": values.agg(statistic) for statistic in ("mean", "min", "max")}


def _interquartile(name: str, values: Sequence[float] | np.ndarray) -> dict[str, float]:
    enough = len(values) >= FEWEST_SEEDS_FOR_INTERVAL
    interval = statistics.bootstrap_interval(values) if enough else statistics.NO_INTERVAL
    return {
        f"{name}_iqm": float(statistics.interquartile_mean(values)),
        f"{name}_iqm_low": interval.low,
        f"{name}_iqm_high": interval.high,
    }
