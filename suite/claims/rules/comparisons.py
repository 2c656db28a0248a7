"""Rules that compare an algorithm with others: by their times to a threshold, or their curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from pydantic import Field

from suite.claims.rules.alone import OfOne, falls, rises
from suite.claims.rules.seeds import FEWEST_SEEDS, FEWEST_SEEDS_FOR_SPREAD, lacking_seeds
from suite.claims.verdicts import (
    DETERMINISTIC,
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

    def against(self, counterparts: Mapping[str, str]) -> Self:
        own, *others = (counterparts.get(name, name) for name in (self.algorithm, *self.others))
        return self.model_copy(update={"algorithm": own, "others": others})


class Times(Compared):
    arrival: Literal["first", "lasting"] = "first"


class Areas(Compared):
    margin: float = Field(ge=0)  # as a share of the way to the threshold


class Pair(NamedTuple):
    """One number per run: of the claim's algorithm, and of another on the same environment."""

    environment: str
    algorithm: str
    other: str
    own: np.ndarray
    theirs: np.ndarray

    def finding(self, statistic: str, estimate: float, **more: Any) -> Finding:
        names = f"{algorithm_name(self.algorithm)} against {algorithm_name(self.other)}"
        runs = ((self.environment, self.algorithm), (self.environment, self.other))
        subject = f"{self.environment}: {names}"
        return Finding(subject, statistic, estimate, runs=runs, **more)


def earlier(data: Data, parameters: Times, level: float) -> Outcome:
    """The algorithm meets the threshold in fewer timesteps than each of the others."""

    def judge(pair: Pair) -> Finding:
        # One algorithm may be evaluated earlier than the other: before that, neither has arrived.
        first = data.first_evaluation(pair.environment, pair.algorithm, pair.other)
        pair = pair._replace(own=np.maximum(pair.own, first), theirs=np.maximum(pair.theirs, first))
        ratio, interval = statistics.speed_up(pair.theirs, pair.own)
        p_value = statistics.probability_smaller(pair.own, pair.theirs).p_value
        medians = [_timesteps(statistics.censored_median(t)) for t in (pair.own, pair.theirs)]
        statistic = f"how many times later the other is, medians {' and '.join(medians)}"
        if data.policy_of(pair.environment, pair.other, parameters.policy) != parameters.policy:
            statistic += f", the other's policy {DETERMINISTIC}"
        own, theirs = _at_the_latest(data, pair)
        finding = pair.finding(
            statistic,
            ratio,
            interval=interval,
            p_value=p_value,
            smallest_visible=statistics.smallest_visible_ratio(own, theirs, level),
        )
        if math.isinf(ratio) and np.isfinite(pair.own).all():
            return finding._replace(estimate=float(theirs.min() / own.max()), is_bound=True)
        return finding

    pairs = _time_pairs(data, parameters)
    return _judge_pairs(pairs, data, parameters, judge, level, FEWEST_SEEDS)


def less_spread(data: Data, parameters: Times, level: float) -> Outcome:
    """The algorithm's timesteps to the threshold vary less between seeds than the others'.

    A run of the others that never arrives counts as arriving at the end of its training, which
    makes their spread no larger than it is.
    """

    def judge(pair: Pair) -> Finding:
        if np.isinf(pair.theirs).all():
            return pair.finding(NOBODY_ARRIVES, math.nan)
        if np.isinf(pair.own).any():
            return pair.finding("some of its own runs never arrive", math.nan, supports=False)
        own, theirs = _at_the_latest(data, pair)
        alike = np.full_like(own, own[0])
        if np.isinf(pair.theirs).any() and statistics.spread_p_value(alike, theirs) > level:
            return pair.finding(TOO_FEW_ARRIVE, math.nan)
        return pair.finding(
            "its spread over the other's",
            float(statistics.ratio(*map(statistics.mean_deviation, (own, theirs)))),
            interval=statistics.bootstrap_ratio_interval(own, theirs, statistics.mean_deviation),
            p_value=statistics.spread_p_value(own, theirs),
        )

    pairs = _time_pairs(data, parameters)
    return _judge_pairs(pairs, data, parameters, judge, level, FEWEST_SEEDS_FOR_SPREAD)


def higher_area(data: Data, parameters: Areas, level: float) -> Outcome:
    """The algorithm's curve lies higher than the others', on average over log timesteps.

    By a margin: a share of the way from the lowest return of both to the threshold.
    """

    def area(run: pd.DataFrame) -> float:
        if len(run) < 2:
            return math.nan
        return statistics.area_under_curve(run["timestep"], run["return"])

    def judge(pair: Pair) -> Finding:
        if not _has_curves(data, pair, parameters.policy):
            return pair.finding(NOT_RECORDED, math.nan)
        if np.isnan([*pair.own, *pair.theirs]).any():
            return pair.finding(NOTHING_SHARED, math.nan)
        higher, interval = statistics.shift(pair.own, pair.theirs)
        way = parameters.thresholds[pair.environment] - _lowest(data, pair, parameters.policy)
        share = higher / way if way > 0 else 0.0
        return pair.finding(
            f"how much higher its curve lies, {share:.0%} of the way to the threshold",
            higher,
            interval=interval,
            p_value=statistics.probability_smaller(pair.theirs, pair.own).p_value,
            supports=None if share >= parameters.margin else False,
        )

    pairs = _curve_pairs(data, parameters, _shared, area)
    return _judge_pairs(pairs, data, parameters, judge, level, FEWEST_SEEDS)


def less_stable(data: Data, parameters: Compared, level: float) -> Outcome:
    """Of what the algorithm's return gains, it loses more again than the others' does.

    Each over its own training. A run of the others that has learned nothing is not stable.
    """

    def relapse(run: pd.DataFrame) -> float:
        return float(statistics.ratio(falls(run["return"]).sum(), rises(run["return"]).sum()))

    def learned(run: pd.DataFrame, threshold: float) -> bool:
        first = run["return"].iloc[0]
        return bool(run["return"].max() - first >= LEARNED * (threshold - first))

    def whole(data: Data, environment: str, names: tuple[str, str], policy: str) -> _Curves:
        own, theirs = _curves(data, environment, names, policy)
        threshold = parameters.thresholds[environment]
        return own, [run for run in theirs if learned(run, threshold)]

    def judge(pair: Pair) -> Finding:
        if not _has_curves(data, pair, parameters.policy):
            return pair.finding(NOT_RECORDED, math.nan)
        if len(pair.theirs) < FEWEST_SEEDS:
            return pair.finding(NOBODY_LEARNS, math.nan)
        more, interval = statistics.shift(pair.own, pair.theirs)
        p_value = statistics.probability_smaller(pair.theirs, pair.own).p_value
        medians = " and ".join(f"{np.median(each):.2f}" for each in (pair.own, pair.theirs))
        statistic = f"how much more of each gain it loses again, medians {medians}"
        return pair.finding(statistic, more, interval=interval, p_value=p_value)

    pairs = _curve_pairs(data, parameters, whole, relapse)
    return _judge_pairs(pairs, data, parameters, judge, level, FEWEST_SEEDS)


RULES: tuple[Rule, ...] = (earlier, less_spread, higher_area, less_stable)


def _timesteps(time: float) -> str:
    return "never" if math.isinf(time) else f"{time:,.0f}"


def _at_the_latest(data: Data, pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """The times of a pair, where a run that never arrives is taken at the end of its training."""
    own = np.minimum(pair.own, data.budgets[pair.environment, pair.algorithm])
    return own, np.minimum(pair.theirs, data.budgets[pair.environment, pair.other])


def _time_pairs(data: Data, parameters: Times) -> Iterator[Pair]:
    for environment, threshold in parameters.thresholds.items():
        own, *others = (
            data.times(environment, name, threshold, parameters.policy, parameters.arrival)
            for name in (parameters.algorithm, *parameters.others)
        )
        for other, theirs in zip(parameters.others, others, strict=True):
            yield Pair(environment, parameters.algorithm, other, own, theirs)


_Curves = tuple[list[pd.DataFrame], list[pd.DataFrame]]


def _curve_pairs(
    data: Data,
    parameters: Compared,
    curves_of: Callable[[Data, str, tuple[str, str], str], _Curves],
    measure: Callable[[pd.DataFrame], float],
) -> Iterator[Pair]:
    for environment, other in itertools.product(parameters.thresholds, parameters.others):
        names = (parameters.algorithm, other)
        curves = curves_of(data, environment, names, parameters.policy)
        own, theirs = (np.array([measure(run) for run in runs]) for runs in curves)
        yield Pair(environment, *names, own, theirs)


def _curves(data: Data, environment: str, names: tuple[str, str], policy: str) -> _Curves:
    """The runs of two algorithms with a policy's returns, from the first evaluation of both on."""
    first = data.first_evaluation(environment, *names)

    def curve(run: pd.DataFrame, algorithm: str) -> pd.DataFrame:
        column, _ = arrivals.POLICIES[data.policy_of(environment, algorithm, policy)]
        return run[run["timestep"] >= first].assign(**{"return": run[column]})

    own, theirs = ([curve(run, name) for run in data.runs(environment, name)] for name in names)
    return own, theirs


def _shared(data: Data, environment: str, names: tuple[str, str], policy: str) -> _Curves:
    """The same, from the later first update to the earlier end of training.

    Before its first update an algorithm shows an untrained policy.
    """
    own, theirs = _curves(data, environment, names, policy)
    begin = max(data.first_updates.get((environment, name), 0) for name in names)
    end = min(run["timestep"].max() for run in (*own, *theirs))

    def cut(runs: list[pd.DataFrame]) -> list[pd.DataFrame]:
        return [run[(run["timestep"] > begin) & (run["timestep"] <= end)] for run in runs]

    return cut(own), cut(theirs)


def _has_curves(data: Data, pair: Pair, policy: str) -> bool:
    """Whether the other has curves of this policy; what is greedy has no other one."""
    return pair.other in data.greedy or data.is_recorded(pair.environment, pair.other, policy)


def _lowest(data: Data, pair: Pair, policy: str) -> float:
    """The lowest return of either algorithm where their curves are compared."""
    curves = _shared(data, pair.environment, (pair.algorithm, pair.other), policy)
    return min(float(run["return"].min()) for runs in curves for run in runs)


def _judge_pairs(
    pairs: Iterator[Pair],
    data: Data,
    parameters: Compared,
    judge: Callable[[Pair], Finding],
    level: float,
    fewest_seeds: int,
) -> Outcome:
    """Reproduced if every test succeeds; partly if some do once corrected for their number.

    A claim that asks for all tests needs no correction, one that asks for any does.
    """
    if lacking := lacking_seeds(data, parameters, fewest_seeds):
        return Outcome(NOT_TESTED, reason=lacking)
    findings = [judge(pair) for pair in pairs]
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
