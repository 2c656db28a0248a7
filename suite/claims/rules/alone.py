"""Rules without a comparison of runs: who arrives, how steadily, and what no run decides."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import gymnasium
import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator
from scipy import stats

from suite.claims.verdicts import (
    FEWEST_SEEDS,
    NOT_TESTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    by_findings,
    graded,
)
from suite.config.models import Count, Text
from suite.names import algorithm_name
from suite.results import arrivals, statistics
from suite.results.statistics import Interval

EVALUATIONS_AT_THE_END = 5


class OfOne(Parameters):
    """One algorithm on some environments, each with its threshold."""

    thresholds: dict[str, float] = Field(min_length=1)
    algorithm: str
    policy: Literal["deterministic", "sampled"] = "deterministic"

    def needed(self) -> list[tuple[str, str]]:
        return [(environment, self.algorithm) for environment in self.thresholds]

    def finding(self, environment: str, statistic: str, estimate: float, **more: Any) -> Finding:
        subject = f"{environment}: {algorithm_name(self.algorithm)}"
        runs = ((environment, self.algorithm),)
        return Finding(subject, statistic, estimate, runs=runs, **more)


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
        statistic = f"how much more it falls per evaluation early than late, medians {medians}"
        found = {"interval": interval, "p_value": p_value, "supports": p_value <= level}
        findings.append(parameters.finding(environment, statistic, more, **found))
    return by_findings(findings)


def falls(returns: ArrayLike) -> np.ndarray:
    """How much the return falls from each evaluation to the next; 0 where it rises."""
    return np.maximum(-np.diff(returns), 0)


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
        supports = ratio <= parameters.factor
        findings.append(parameters.finding(environment, statistic, ratio, supports=supports))
    return by_findings(findings)


class Arrivals(Parameters):
    environment: str
    column: Literal["mean", "exact_return"]
    policy: Literal["deterministic", "sampled"] = "deterministic"
    at_least: float | None = None
    below_optimum: float | None = Field(default=None, ge=0)
    when: Literal["ever", "end"]
    arrive: dict[str, Count] = Field(min_length=1)  # timesteps of training, by algorithm
    fail: dict[str, Count]

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.at_least is None) == (self.below_optimum is None):
            raise ValueError("give one of at_least and below_optimum")
        return self

    def needed(self) -> list[tuple[str, str]]:
        return [(self.environment, algorithm) for algorithm in (*self.arrive, *self.fail)]


def who_arrives(data: Data, parameters: Arrivals, level: float) -> Outcome:
    """Most runs of some algorithms arrive at a return, and most runs of the others do not.

    An algorithm trained for less than the claim is about is left open, unless it has arrived.
    """
    environment, target = parameters.environment, parameters.at_least
    if target is None:
        target = data.optima[environment] - (parameters.below_optimum or 0.0)
    if lacking := data.lacking_seeds(parameters, FEWEST_SEEDS):
        return Outcome(NOT_TESTED, reason=lacking)
    horizons = {**parameters.arrive, **parameters.fail}
    policies = {name: data.policy_of(environment, name, parameters.policy) for name in horizons}
    if parameters.policy not in policies.values():
        return Outcome(NOT_TESTED, reason=f"the {parameters.policy} policy was not recorded")
    findings = {}
    for algorithm, horizon in horizons.items():
        played, exact = arrivals.POLICIES[policies[algorithm]]
        column = played if parameters.column == "mean" else exact
        returns = [run[column] for run in data.runs(environment, algorithm)]
        reached = [
            each.max()
            if parameters.when == "ever"
            else each.iloc[-EVALUATIONS_AT_THE_END:].median()
            for each in returns
        ]
        arrived = sum(best >= target for best in reached)
        most = arrived > len(returns) / 2
        trained = data.budgets[environment, algorithm]
        is_open = trained < horizon and not most
        statistic = f"share of runs at {target:.2f} or more, trained {trained:,} of {horizon:,}"
        if policies[algorithm] != parameters.policy:
            statistic += f", its policy {policies[algorithm]}"
        confidence = stats.binomtest(arrived, len(returns)).proportion_ci()
        findings[algorithm] = Finding(
            f"{environment}: {algorithm_name(algorithm)}",
            statistic,
            arrived / len(returns),
            Interval(float(confidence.low), float(confidence.high)),
            supports=None if is_open else most == (algorithm in parameters.arrive),
            runs=((environment, algorithm),),
        )
    listed = list(findings.values())
    if any(finding.supports is None for finding in listed):
        return Outcome(NOT_TESTED, listed, "trained for fewer timesteps than the claim is about")
    # Partly where each side of the claim, those that should and should not, holds for some.
    sides = [side for side in (parameters.arrive, parameters.fail) if side]
    some = all(any(findings[name].supports for name in side) for side in sides)
    return graded(listed, partly=some)


class Registered(Parameters):
    thresholds: dict[str, float] = Field(min_length=1)  # the paper's, by Gymnasium's names


def registered_thresholds(data: Data, parameters: Registered, level: float) -> Outcome:
    """The paper's thresholds are those that Gymnasium registers."""
    findings = []
    for name, threshold in parameters.thresholds.items():
        subject = f"{name}: {threshold:g} in the paper"
        statistic = "the threshold that Gymnasium registers"
        registered = float(gymnasium.spec(name).reward_threshold or "nan")
        findings.append(Finding(subject, statistic, registered, supports=threshold == registered))
    return by_findings(findings)


class Reason(Parameters):
    reason: Text


def no_test(data: Data, parameters: Reason, level: float) -> Outcome:
    """A sentence that no run or computation here decides."""
    return Outcome(NOT_TESTED, reason=parameters.reason)


RULES = (falls_early, within_a_factor, who_arrives, registered_thresholds, no_test)
