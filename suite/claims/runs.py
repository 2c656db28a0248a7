"""The evaluations of an algorithm's runs on one environment, by one policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from suite import SuiteError
from suite.results.arrivals import POLICIES, time_to_lasting
from suite.results.statistics import time_to_threshold

Policy = Literal["greedy", "sampled"]
Definition = Literal["first", "three in a row", "lasting"]
COLUMNS = {"greedy": POLICIES["deterministic"], "sampled": POLICIES["sampled"]}


class Runs(NamedTuple):
    """One row per seed, one column per evaluation."""

    timesteps: np.ndarray
    returns: np.ndarray
    exact: np.ndarray  # expected returns by dynamic programming, NaN where there is no table

    @property
    def budget(self) -> int:
        return int(self.timesteps[-1])

    def times(self, threshold: float, definition: Definition = "first") -> np.ndarray:
        """Timesteps to the threshold of each run, infinite where it never reaches it."""
        return np.array(
            [TIME_BY[definition](self.timesteps, run, threshold) for run in self.returns]
        )

    def between(self, begin: float, end: float) -> Runs:
        inside = (self.timesteps >= begin) & (self.timesteps <= end)
        return Runs(self.timesteps[inside], self.returns[:, inside], self.exact[:, inside])

    def at(self, timestep: float) -> np.ndarray:
        """The return of each run at its last evaluation up to a timestep."""
        return self.returns[:, np.searchsorted(self.timesteps, timestep, side="right") - 1]


def time_to_three(timesteps: np.ndarray, returns: np.ndarray, threshold: float) -> float:
    """Timesteps of the first of three consecutive evaluations at or above the threshold."""
    above = returns >= threshold
    starts = np.flatnonzero(above[:-2] & above[1:-1] & above[2:])
    return float(timesteps[starts[0]]) if len(starts) else math.inf


TIME_BY = {
    "first": time_to_threshold,
    "three in a row": time_to_three,
    "lasting": time_to_lasting,
}


class Evaluations:
    """All runs of a study, by environment and algorithm."""

    def __init__(self, table: pd.DataFrame, greedy: set[str]) -> None:
        """`greedy` names the algorithms whose sampled policy is only their exploration."""
        self.greedy = greedy
        self._groups: Mapping[tuple[str, str], pd.DataFrame] = dict(
            iter(table.groupby(["environment", "algorithm"], sort=False))
        )
        self._cache: dict[tuple[str, str, str], Runs] = {}

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._groups

    def has_sampled(self, environment: str, algorithm: str) -> bool:
        return algorithm not in self.greedy and bool(
            self._groups[environment, algorithm]["sampled_mean"].notna().all()
        )

    def runs(self, environment: str, algorithm: str, policy: Policy) -> Runs:
        key = (environment, algorithm, policy)
        if key not in self._cache:
            played, exact = COLUMNS[policy]
            rows = self._groups[environment, algorithm]
            tables = [
                rows.pivot(index="seed", columns="timestep", values=name)
                for name in (played, exact)
            ]
            first = tables[0]
            if first.isna().any(axis=None):
                raise SuiteError(
                    f"{algorithm} on {environment}: its seeds are not evaluated at the same "
                    "timesteps, so they cannot be judged together"
                )
            self._cache[key] = Runs(
                first.columns.to_numpy(dtype=float),
                *(table.to_numpy(dtype=float) for table in tables),
            )
        return self._cache[key]
