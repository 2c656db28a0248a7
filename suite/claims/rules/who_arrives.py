"""The rule on who arrives: most runs of some algorithms do, most runs of the others do not."""

from collections.abc import Mapping
from typing import Literal, Self

import pandas as pd
from pydantic import Field, model_validator
from scipy import stats

from suite.claims.verdicts import (
    FEWEST_SEEDS,
    NOT_TESTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
    graded,
)
from suite.config.models import Count
from suite.names import algorithm_name
from suite.results import arrivals
from suite.results.statistics import Interval

EVALUATIONS_AT_THE_END = 5


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

    def against(self, counterparts: Mapping[str, str]) -> Self:
        renamed = {
            key: {counterparts.get(name, name): n for name, n in getattr(self, key).items()}
            for key in ("arrive", "fail")
        }
        return self.model_copy(update=renamed)

    def target(self, optimum: float) -> float:
        return optimum - (self.below_optimum or 0.0) if self.at_least is None else self.at_least

    def is_met(self, run: pd.DataFrame, policy: str, target: float) -> bool:
        played, exact = arrivals.POLICIES[policy]
        returns = run[played if self.column == "mean" else exact]
        if self.when == "ever":
            return bool((returns >= target).any())
        return bool(returns.iloc[-EVALUATIONS_AT_THE_END:].median() >= target)


def who_arrives(data: Data, parameters: Arrivals, level: float) -> Outcome:
    """Most runs of some algorithms arrive at a return, and most runs of the others do not.

    An algorithm trained for less than the claim is about is left open, unless it has arrived.
    """
    environment = parameters.environment
    target = parameters.target(data.optima[environment])
    if lacking := data.lacking_seeds(parameters, FEWEST_SEEDS):
        return Outcome(NOT_TESTED, reason=lacking)
    policies = {
        algorithm: data.policy_of(environment, algorithm, parameters.policy)
        for _, algorithm in parameters.needed()
    }
    if parameters.policy not in policies.values():
        return Outcome(NOT_TESTED, reason=f"the {parameters.policy} policy was not recorded")
    findings = {}
    for algorithm, horizon in {**parameters.arrive, **parameters.fail}.items():
        runs = data.runs(environment, algorithm)
        policy = policies[algorithm]
        arrived = sum(parameters.is_met(run, policy, target) for run in runs)
        most = arrived > len(runs) / 2
        trained = data.budgets[environment, algorithm]
        is_open = trained < horizon and not most
        statistic = f"share of runs at {target:.2f} or more, trained {trained:,} of {horizon:,}"
        if policy != parameters.policy:
            statistic += f", its policy {policy}"
        confidence = stats.binomtest(arrived, len(runs)).proportion_ci()
        findings[algorithm] = Finding(
            f"{environment}: {algorithm_name(algorithm)}",
            statistic,
            arrived / len(runs),
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


RULES: tuple[Rule, ...] = (who_arrives,)
