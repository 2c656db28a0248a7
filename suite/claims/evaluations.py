"""The evaluations of an algorithm's runs on one environment, by one policy."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

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
        time = TIME_BY[definition]
        return np.array([time(self.timesteps, run, threshold) for run in self.returns])

    def at(self, timesteps: ArrayLike) -> np.ndarray:
        """The return of each run at its last evaluation up to each of the timesteps."""
        return self.returns[:, np.searchsorted(self.timesteps, timesteps, side="right") - 1]


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

    def __init__(self, table: pd.DataFrame, greedy: list[str]) -> None:
        """`greedy` names the algorithms whose sampled policy is only their exploration."""
        self.greedy = greedy
        self._groups = dict(iter(table.groupby(["environment", "algorithm"], sort=False)))
        self._runs: dict[tuple[str, str, str], Runs] = {}

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._groups

    def has_sampled(self, environment: str, algorithm: str) -> bool:
        rows = self._groups[environment, algorithm]
        return algorithm not in self.greedy and bool(rows["sampled_mean"].notna().all())

    def runs(self, environment: str, algorithm: str, policy: Policy) -> Runs:
        key = (environment, algorithm, policy)
        if key not in self._runs:
            rows, columns = self._groups[environment, algorithm], COLUMNS[policy]
            played, exact = (
                rows.pivot(index="seed", columns="timestep", values=c) for c in columns
            )
            if played.isna().any(axis=None):
                raise SuiteError(
                    f"{algorithm} on {environment}: its seeds are not evaluated at the same "
                    "timesteps, so they cannot be judged together"
                )
            timesteps = played.columns.to_numpy(dtype=float)
            self._runs[key] = Runs(timesteps, played.to_numpy(float), exact.to_numpy(float))
        return self._runs[key]
