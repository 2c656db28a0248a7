"""Rules on the runs of one algorithm, without a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from suite.claims.verdicts import (
    FEWEST_SEEDS,
    NOT_TESTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
    by_findings,
)
from suite.config.models import Count
from suite.names import algorithm_name
from suite.results import arrivals, statistics


class OfOne(Parameters):
    """One algorithm on some environments, each with its threshold."""

    thresholds: dict[str, float] = Field(min_length=1)
    algorithm: str
    policy: Literal["deterministic", "sampled"] = "deterministic"

    def needed(self) -> list[tuple[str, str]]:
        return [(environment, self.algorithm) for environment in self.thresholds]

    def against(self, counterparts: Mapping[str, str]) -> Self:
        return self.model_copy(
            update={"algorithm": counterparts.get(self.algorithm, self.algorithm)}
        )

    def finding(self, environment: str, statistic: str, estimate: float, **more: object) -> Finding:
        subject = f"{environment}: {algorithm_name(self.algorithm)}"
        runs = ((environment, self.algorithm),)
        return Finding(subject, statistic, estimate, runs=runs, **more)  # type: ignore[arg-type]


def falls(returns: ArrayLike) -> np.ndarray:
    """How much the return falls from each evaluation to the next; 0 where it rises."""
    return np.maximum(-np.diff(returns), 0)


class Early(OfOne):
    start: Count  # timestep of the first evaluation to look at


def falls_early(data: Data, parameters: Early, level: float) -> Outcome:
    """The return falls more in the first half of the evaluations than in the second.

    They are spaced by the logarithm of the timestep, so these are halves of a logarithmic axis.
    """
    if lacking := data.lacking_seeds(parameters, FEWEST_SEEDS):
        return Outcome(NOT_TESTED, reason=lacking)
    findings = []
    column, _ = arrivals.POLICIES[parameters.policy]
    for environment in parameters.thresholds:
        runs = [
            falls(run.loc[run["timestep"] >= parameters.start, column])
            for run in data.runs(environment, parameters.algorithm)
        ]
        early = [fall[: len(fall) // 2].mean() for fall in runs]
        late = [fall[len(fall) // 2 :].mean() for fall in runs]
        more, interval = statistics.shift(early, late)
        p_value = statistics.probability_smaller(late, early).p_value
        medians = f"{np.median(early):.3g} and {np.median(late):.3g}"
        findings.append(
            parameters.finding(
                environment,
                f"how much more it falls per evaluation early than late, medians {medians}",
                more,
                interval=interval,
                p_value=p_value,
                supports=p_value <= level,
            )
        )
    return by_findings(findings)


class Within(OfOne):
    factor: float = Field(gt=1)


def within_a_factor(data: Data, parameters: Within, level: float) -> Outcome:
    """Every run arrives, and the latest takes at most so many times as long as the earliest."""
    if lacking := data.lacking_seeds(parameters, FEWEST_SEEDS):
        return Outcome(NOT_TESTED, reason=lacking)
    findings = []
    for environment, threshold in parameters.thresholds.items():
        times = data.times(environment, parameters.algorithm, threshold, parameters.policy, "first")
        arrived = times[np.isfinite(times)]
        ends = f"{arrived.min():,.0f} to {arrived.max():,.0f}" if len(arrived) else "none"
        statistic = f"latest over earliest arrival, {len(arrived)} of {len(times)} runs: {ends}"
        ratio = float(times.max() / times.min()) if len(arrived) else math.inf
        findings.append(
            parameters.finding(environment, statistic, ratio, supports=ratio <= parameters.factor)
        )
    return by_findings(findings)


RULES: tuple[Rule, ...] = (falls_early, within_a_factor)
