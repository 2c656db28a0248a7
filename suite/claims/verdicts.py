"""What a rule sees of a study and what it gives back: a verdict with the findings it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from suite.results.statistics import Interval

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
NOT_TESTED = "not tested"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTED)

NO_INTERVAL = Interval(math.nan, math.nan)

Parameters = Mapping[str, Any]


class Finding(NamedTuple):
    """One number that a verdict rests on."""

    subject: str
    statistic: str
    estimate: float
    interval: Interval = NO_INTERVAL
    p_value: float = math.nan
    supports: bool | None = None  # None where it speaks neither for nor against the claim
    runs: tuple[tuple[str, str], ...] = ()  # (environment, algorithm) pairs whose runs it used


class Outcome(NamedTuple):
    verdict: str
    findings: Sequence[Finding] = ()
    reason: str = ""


class Data(NamedTuple):
    """What the rules see of a study."""

    evaluations: pd.DataFrame
    budgets: Mapping[tuple[str, str], int]  # timesteps by environment and algorithm
    shared: Mapping[str, int]  # the last timestep that all algorithms of an environment share
    optima: Mapping[str, float]  # exact, NaN where there is no transition table

    def runs(self, environment: str, algorithm: str) -> list[pd.DataFrame]:
        rows = self.evaluations
        rows = rows[(rows["environment"] == environment) & (rows["algorithm"] == algorithm)]
        return [run for _, run in rows.groupby("seed")]


Rule = Callable[[Data, Parameters, float], Outcome]
