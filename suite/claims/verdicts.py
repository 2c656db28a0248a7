"""What a rule sees of a study and what it gives back: a verdict with the findings it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from suite.config.models import Block
from suite.results import arrivals
from suite.results.statistics import NO_INTERVAL, Interval

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
NOT_TESTED = "not tested"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTED)  # on experiments

IDENTITY_CHECKED = "identity checked"  # the code computes what the formula says
NO_VIOLATION = "no violation found"  # a bound, tried where it could fail
PROOF_REPAIRED = "proof repaired"  # a step fails, the statement has another proof
REFUTED = "refuted"  # by a counterexample, under the reading that the claim names
OPEN = "open"
THEORY_VERDICTS = (IDENTITY_CHECKED, NO_VIOLATION, PROOF_REPAIRED, REFUTED, OPEN)


class Parameters(Block):
    """What a claim tells its rule; each rule declares its own beside its function."""

    def needed(self) -> list[tuple[str, str]]:
        """The (environment, algorithm) pairs whose runs the claim needs; none for a theorem."""
        return []

    def against(self, counterparts: Mapping[str, str]) -> Self:
        """The same question about other algorithms: the counterparts of those named."""
        return self


class Finding(NamedTuple):
    """One number that a verdict rests on."""

    subject: str
    statistic: str
    estimate: float
    interval: Interval = NO_INTERVAL
    p_value: float = math.nan
    supports: bool | None = None  # None where it speaks neither for nor against the claim
    runs: tuple[tuple[str, str], ...] = ()  # (environment, algorithm) pairs whose runs it used
    p_holm: float = math.nan  # corrected for the number of tests of its claim
    is_bound: bool = False  # the truth is the estimate or more
    smallest_visible: float = math.nan  # the ratio that these samples could just have shown


class Outcome(NamedTuple):
    verdict: str
    findings: Sequence[Finding] = ()
    reason: str = ""


def graded(findings: Sequence[Finding], partly: bool = False) -> Outcome:
    """Reproduced if no finding speaks against it; if one does, `partly` says what is left."""
    if all(finding.supports for finding in findings if finding.supports is not None):
        return Outcome(REPRODUCED, findings)
    return Outcome(PARTLY if partly else NOT_REPRODUCED, findings)


class Data(NamedTuple):
    """What the rules see of a study."""

    evaluations: pd.DataFrame
    arrivals: pd.DataFrame  # runs.csv
    budgets: Mapping[tuple[str, str], int]  # timesteps by environment and algorithm
    optima: Mapping[str, float]  # exact, NaN where there is no transition table
    first_updates: Mapping[tuple[str, str], int] = {}  # 0 where it is not named
    greedy: Collection[str] = ()  # algorithms whose sampled policy is their exploration

    def runs(self, environment: str, algorithm: str) -> list[pd.DataFrame]:
        rows = self.evaluations
        rows = rows[(rows["environment"] == environment) & (rows["algorithm"] == algorithm)]
        return [run for _, run in rows.groupby("seed")]

    def times(
        self, environment: str, algorithm: str, threshold: float, policy: str, arrival: str
    ) -> np.ndarray:
        """Timesteps to the threshold, one per seed, infinite where a run never arrives.

        Of the deterministic policy where the one asked for was not recorded.
        """
        policy = self.policy_of(algorithm, policy)
        rows = arrivals.select(self.arrivals, environment, algorithm, threshold, policy)
        if rows.empty:
            rows = arrivals.select(self.arrivals, environment, algorithm, threshold)
        return arrivals.as_times(rows[f"{arrival}_arrival"])

    def policy_of(self, algorithm: str, asked: str) -> str:
        """The policy by which an algorithm is compared where `asked` is."""
        return "deterministic" if algorithm in self.greedy else asked


Rule = Callable[[Data, Any, float], Outcome]
