"""What a rule sees of a study and what it gives back: a verdict with the findings it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from suite.config.models import Block
from suite.names import algorithm_name
from suite.results import arrivals
from suite.results.statistics import NO_INTERVAL, Interval

# With fewer seeds on a side, no data could bring the exact p-value down to 0.05.
FEWEST_SEEDS = 3
FEWEST_SEEDS_FOR_SPREAD = 4

DETERMINISTIC, SAMPLED = "deterministic", "sampled"
REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
NOT_TESTED = "not tested"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTED)  # on experiments

IDENTITY_CHECKED = "identity checked"  # the code computes what the formula says
NO_VIOLATION = "no violation found"  # a bound, tried where it could fail
HOLDS_IN_O_FORM = "holds in O-form"  # a step of the proof fails; a larger constant is proved
HYPOTHESIS_TOO_WEAK = "hypothesis too weak"  # as printed; the case that the paper uses stands
MISPRINT = "misprint"  # false as printed, what is meant is plain and holds
REFUTED = "refuted"  # by a counterexample, under the reading that the claim names
OPEN = "open"
THEORY_VERDICTS = (
    *(IDENTITY_CHECKED, NO_VIOLATION, HOLDS_IN_O_FORM, HYPOTHESIS_TOO_WEAK),
    *(MISPRINT, REFUTED, OPEN),
)
# The words for what is not a sentence of the paper, so that nothing there can be reproduced.
BEYOND = dict(zip(VERDICTS, ("shown", "partly shown", "not shown", NOT_TESTED), strict=True))
HOLDS = (REPRODUCED, BEYOND[REPRODUCED])


class Parameters(Block):
    """What a claim tells its rule; each rule declares its own beside its function."""

    def needed(self) -> list[tuple[str, str]]:
        """The (environment, algorithm) pairs whose runs the claim needs; none for a theorem."""
        return []

    def against(self, counterparts: Mapping[str, str]) -> Self:
        """The same question about other algorithms: the counterparts of those named."""

        def renamed(value: Any) -> Any:
            if isinstance(value, dict):
                return {counterparts.get(key, key): renamed(each) for key, each in value.items()}
            if isinstance(value, list):
                return [renamed(each) for each in value]
            return counterparts.get(value, value) if isinstance(value, str) else value

        return type(self)(**renamed(self.model_dump())) if counterparts else self


class Finding(NamedTuple):
    """One number that a verdict rests on."""

    subject: str
    statistic: str
    estimate: float
    interval: Interval = NO_INTERVAL
    p_value: float = math.nan
    p_holm: float = math.nan  # corrected for the number of tests of its claim
    is_bound: bool = False  # the truth is the estimate or more
    smallest_visible: float = math.nan  # the ratio that these samples could just have shown
    supports: bool | None = None  # None where it speaks neither for nor against the claim
    runs: tuple[tuple[str, str], ...] = ()  # (environment, algorithm) pairs whose runs it used


class Outcome(NamedTuple):
    verdict: str
    findings: Sequence[Finding] = ()
    reason: str = ""


def graded(findings: Sequence[Finding], partly: bool = False) -> Outcome:
    """Reproduced if no finding speaks against it; if one does, `partly` says what is left."""
    if all(finding.supports for finding in findings if finding.supports is not None):
        return Outcome(REPRODUCED, findings)
    return Outcome(PARTLY if partly else NOT_REPRODUCED, findings)


def by_findings(findings: Sequence[Finding]) -> Outcome:
    """Reproduced if every finding speaks for it, partly if some do; untested if none says anything.

    A finding without an answer is one that was left out; its statistic is the reason.
    """
    judged = [finding.supports for finding in findings if finding.supports is not None]
    if not judged:
        reasons = dict.fromkeys(finding.statistic for finding in findings)
        return Outcome(NOT_TESTED, findings, "; ".join(reasons))
    outcome = graded(findings, partly=any(judged))
    return outcome._replace(reason=f"{sum(judged)} of {len(judged)} findings speak for it")


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

        Of the policy that `policy_of` gives.
        """
        policy = self.policy_of(environment, algorithm, policy)
        rows = arrivals.select(self.arrivals, environment, algorithm, threshold, policy)
        return arrivals.as_times(rows[f"{arrival}_arrival"])

    def policy_of(self, environment: str, algorithm: str, asked: str) -> str:
        """The policy asked for, or the deterministic one where that has no recorded runs."""
        return asked if self.is_recorded(environment, algorithm, asked) else DETERMINISTIC

    def is_recorded(self, environment: str, algorithm: str, policy: str) -> bool:
        """Whether runs have this policy; what a greedy algorithm samples is its exploration."""
        if algorithm in self.greedy and policy != DETERMINISTIC:
            return False
        return not arrivals.select(self.arrivals, environment, algorithm, policy=policy).empty

    def lacking_seeds(self, parameters: Parameters, fewest: int) -> str:
        """Whose seeds are fewest, if they are fewer than a verdict needs; empty if they are not."""
        seeds = {pair: len(self.runs(*pair)) for pair in parameters.needed()}
        environment, algorithm = pair = min(seeds, key=lambda pair: seeds[pair])
        if seeds[pair] >= fewest:
            return ""
        there = "1 seed" if seeds[pair] == 1 else f"{seeds[pair]} seeds"
        return f"{there} of {algorithm_name(algorithm)} on {environment}, {fewest} are needed"


Rule = Callable[[Data, Any, float], Outcome]
