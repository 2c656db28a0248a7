"""Rules that compare an algorithm with others: by their times to a threshold, or their curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from suite.claims.rules.alone import OfOne, falls
from suite.claims.verdicts import (
    DETERMINISTIC,
    FEWEST_SEEDS,
    FEWEST_SEEDS_FOR_SPREAD,
    NOT_TESTED,
    Data,
    Finding,
    Outcome,
    Rule,
    by_findings,
)
from suite.config.models import Names
from suite.names import algorithm_name
from suite.results import arrivals, statistics

LEARNED = 0.5  # of the way from a run's first return to the threshold

# Why a pair is left out.
NOTHING_SHARED = "fewer than two evaluations are shared after both first updates"
NOT_RECORDED = "the other's sampled policy was not recorded"
NOBODY_LEARNS = "fewer than three runs of the other come half of the way to the threshold"
NOBODY_ARRIVES = "no run of the other arrives"
TOO_FEW_ARRIVE = "so few runs of the other arrive that no spread would be significantly less"


class Compared(OfOne):
    """One algorithm against others, environment by environment."""

    others: Names

    def needed(self) -> list[tuple[str, str]]:
        names = (self.algorithm, *self.others)
        return [(environment, name) for environment in self.thresholds for name in names]


class Times(Compared):
    arrival: Literal["first", "lasting"] = "first"


class Areas(Compared):
    margin: float = Field(ge=0)  # as a share of the way to the threshold


class Pair(NamedTuple):
    """The claim's algorithm and one of the others, on one environment."""

    data: Data
    parameters: Any  # Compared, or a rule's own
    environment: str
    other: str

    @property
    def names(self) -> tuple[str, str]:
        return self.parameters.algorithm, self.other

    @property
    def policies(self) -> list[str]:
        """The policies by which the two are compared."""
        asked = self.parameters.policy
        return [self.data.policy_of(self.environment, name, asked) for name in self.names]

    @property
    def first_evaluation(self) -> int:
        """The earliest timestep at which both have been evaluated."""
        rows = self.data.evaluations
        firsts = (
            rows[rows["environment"] == self.environment].groupby("algorithm")["timestep"].min()
        )
        return int(firsts[list(self.names)].max())

    def times(self) -> list[np.ndarray]:
        """Timesteps to the threshold of each run, infinite where it never arrives."""
        threshold = self.parameters.thresholds[self.environment]
        asked = (threshold, self.parameters.policy, self.parameters.arrival)
        return [self.data.times(self.environment, name, *asked) for name in self.names]

    def censored(self, times: list[np.ndarray]) -> list[np.ndarray]:
        """The same, where a run that never arrives is taken at the end of its training."""
        budgets = [self.data.budgets[self.environment, name] for name in self.names]
        return [np.minimum(*each) for each in zip(times, budgets, strict=True)]

    def has_curves(self) -> bool:
        """Whether the other's policy was recorded; one that is greedy has no other policy."""
        asked = (self.environment, self.other, self.parameters.policy)
        return self.other in self.data.greedy or self.data.is_recorded(*asked)

    def curves(self, begin: float = 0, end: float = math.inf) -> list[list[pd.DataFrame]]:
        """The runs of both with their policies' returns, from the first evaluation of both on."""
        begin = max(begin, self.first_evaluation)
        curves = []
        for name, policy in zip(self.names, self.policies, strict=True):
            column, _ = arrivals.POLICIES[policy]
            runs = self.data.runs(self.environment, name)
            cut = [run[run["timestep"].between(begin, end)] for run in runs]
            curves.append([run.assign(**{"return": run[column]}) for run in cut])
        return curves

    def finding(self, statistic: str, estimate: float = math.nan, **more: Any) -> Finding:
        own, other = map(algorithm_name, self.names)
        subject = f"{self.environment}: {own} against {other}"
        runs = tuple((self.environment, name) for name in self.names)
        return Finding(subject, statistic, estimate, runs=runs, **more)


def pairwise(fewest_seeds: int) -> Callable[[Callable[[Pair, Any, float], Finding]], Rule]:
    """Make a rule of a function that judges one pair; all pairs together make the verdict.

    Reproduced if every test succeeds; partly if some do once corrected for their number. A claim
    that asks for all tests needs no correction, one that asks for any does.
    """

    def decorate(judge: Callable[[Pair, Any, float], Finding]) -> Rule:
        @wraps(judge)
        def rule(data: Data, parameters: Any, level: float) -> Outcome:
            if lacking := data.lacking_seeds(parameters, fewest_seeds):
                return Outcome(NOT_TESTED, reason=lacking)
            asked = itertools.product(parameters.thresholds, parameters.others)
            findings = [judge(Pair(data, parameters, *pair), parameters, level) for pair in asked]
            if any(finding.statistic == NOT_RECORDED for finding in findings):
                return Outcome(NOT_TESTED, findings, NOT_RECORDED)
            tested = [i for i, finding in enumerate(findings) if not math.isnan(finding.p_value)]
            holm = statistics.holm([findings[i].p_value for i in tested])
            refused = any(finding.supports is False for finding in findings)
            every = not refused and all(findings[i].p_value <= level for i in tested)
            for i, p_holm in zip(tested, holm, strict=True):
                supports = findings[i].supports is not False and (every or p_holm <= level)
                findings[i] = findings[i]._replace(p_holm=p_holm, supports=supports)
            return by_findings(findings)

        return rule

    return decorate


@pairwise(FEWEST_SEEDS)
def earlier(pair: Pair, parameters: Times, level: float) -> Finding:
    """The algorithm meets the threshold in fewer timesteps than each of the others."""
    # One algorithm may be evaluated earlier than the other: before that, neither has arrived.
    times = own, theirs = [np.maximum(each, pair.first_evaluation) for each in pair.times()]
    ratio, interval = statistics.speed_up(theirs, own)
    medians = [statistics.censored_median(each) for each in times]
    shown = " and ".join("never" if math.isinf(time) else f"{time:,.0f}" for time in medians)
    statistic = f"how many times later the other is, medians {shown}"
    if pair.policies[1] != parameters.policy:
        statistic += f", the other's policy {DETERMINISTIC}"
    own_end, their_end = pair.censored(times)
    is_bound = math.isinf(ratio) and bool(np.isfinite(own).all())
    return pair.finding(
        statistic,
        float(their_end.min() / own_end.max()) if is_bound else ratio,
        interval=interval,
        p_value=statistics.probability_smaller(own, theirs).p_value,
        is_bound=is_bound,
        smallest_visible=statistics.smallest_visible_ratio(own_end, their_end, level),
    )


@pairwise(FEWEST_SEEDS_FOR_SPREAD)
def less_spread(pair: Pair, parameters: Times, level: float) -> Finding:
    """The algorithm's timesteps to the threshold vary less between seeds than the others'.

    A run of the others that never arrives counts as arriving at the end of its training, which
    makes their spread no larger than it is.
    """
    times = pair.times()
    own_never, their_never = (np.isinf(each) for each in times)
    if their_never.all():
        return pair.finding(NOBODY_ARRIVES)
    if own_never.any():
        return pair.finding("some of its own runs never arrive", supports=False)
    own, theirs = pair.censored(times)
    alike = np.full_like(own, own[0])
    if their_never.any() and statistics.spread_p_value(alike, theirs) > level:
        return pair.finding(TOO_FEW_ARRIVE)
    return pair.finding(
        "its spread over the other's",
        float(statistics.ratio(*map(statistics.mean_deviation, (own, theirs)))),
        interval=statistics.bootstrap_ratio_interval(own, theirs, statistics.mean_deviation),
        p_value=statistics.spread_p_value(own, theirs),
    )


@pairwise(FEWEST_SEEDS)
def higher_area(pair: Pair, parameters: Areas, level: float) -> Finding:
    """The algorithm's curve lies higher than the others', on average over log timesteps.

    From the later first update, before which a policy is untrained, to the earlier end of training.
    By a margin: a share of the way from the lowest return of both to the threshold.
    """
    if not pair.has_curves():
        return pair.finding(NOT_RECORDED)
    updates = [pair.data.first_updates.get((pair.environment, name), 0) for name in pair.names]
    ends = [run["timestep"].max() for runs in pair.curves() for run in runs]
    curves = pair.curves(1 + max(updates), min(ends))
    if any(len(run) < 2 for runs in curves for run in runs):
        return pair.finding(NOTHING_SHARED)
    own, theirs = (
        [statistics.area_under_curve(run["timestep"], run["return"]) for run in runs]
        for runs in curves
    )
    higher, interval = statistics.shift(own, theirs)
    lowest = min(run["return"].min() for runs in curves for run in runs)
    way = parameters.thresholds[pair.environment] - lowest
    share = higher / way if way > 0 else 0.0
    return pair.finding(
        f"how much higher its curve lies, {round(100 * share)}% of the way to the threshold",
        higher,
        interval=interval,
        p_value=statistics.probability_smaller(theirs, own).p_value,
        supports=None if share >= parameters.margin else False,
    )


@pairwise(FEWEST_SEEDS)
def less_stable(pair: Pair, parameters: Compared, level: float) -> Finding:
    """Of what the algorithm's return gains, it loses more again than the others' does.

    Each over its own training. A run of the others that has learned nothing is not stable.
    """
    if not pair.has_curves():
        return pair.finding(NOT_RECORDED)
    threshold = parameters.thresholds[pair.environment]
    own_runs, their_runs = ([run["return"] for run in runs] for runs in pair.curves())
    learned = [
        run for run in their_runs if run.max() - run.iloc[0] >= LEARNED * (threshold - run.iloc[0])
    ]
    own, theirs = (
        [float(statistics.ratio(falls(run).sum(), falls(-run).sum())) for run in runs]
        for runs in (own_runs, learned)
    )
    if len(theirs) < FEWEST_SEEDS:
        return pair.finding(NOBODY_LEARNS)
    more, interval = statistics.shift(own, theirs)
    p_value = statistics.probability_smaller(theirs, own).p_value
    medians = " and ".join(f"{np.median(each):.2f}" for each in (own, theirs))
    statistic = f"how much more of each gain it loses again, medians {medians}"
    return pair.finding(statistic, more, interval=interval, p_value=p_value)


RULES = (earlier, less_spread, higher_area, less_stable)
