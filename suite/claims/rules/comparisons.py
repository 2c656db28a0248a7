"""Rules that compare an algorithm with others: by their times to a threshold, or their curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from pydantic import Field

from suite.claims.rules.seeds import FEWEST_SEEDS, FEWEST_SEEDS_FOR_SPREAD, lacking_seeds
from suite.claims.verdicts import NOT_TESTED, Data, Finding, Outcome, Parameters, Rule, graded
from suite.config.models import Names
from suite.names import algorithm_name
from suite.results import arrivals, statistics

# Why a pair is left out.
NOTHING_SHARED = "fewer than two evaluations are shared after both first updates"
NOT_RECORDED = "the other's sampled policy was not recorded"
NOBODY_ARRIVES = "no run of the other arrives"
TOO_FEW_ARRIVE = "so few runs of the other arrive that no spread would be significantly less"
BEFORE_THE_FIRST = "its own runs arrive by the first evaluation, so their spread is not known"


class Compared(Parameters):
    """One algorithm against others, environment by environment."""

    algorithm: str
    others: Names

    def places(self) -> Sequence[str]:
        raise NotImplementedError

    def needed(self) -> list[tuple[str, str]]:
        names = (self.algorithm, *self.others)
        return [(environment, name) for environment in self.places() for name in names]

    def against(self, counterparts: Mapping[str, str]) -> Self:
        own, *others = (counterparts.get(name, name) for name in (self.algorithm, *self.others))
        return self.model_copy(update={"algorithm": own, "others": others})


class Times(Compared):
    thresholds: dict[str, float] = Field(min_length=1)
    policy: Literal["deterministic", "sampled"] = "deterministic"
    arrival: Literal["first", "lasting"] = "first"

    def places(self) -> Sequence[str]:
        return list(self.thresholds)


class Spread(Times):
    scale: Literal["linear", "log"]


class Curves(Compared):
    environments: Names
    policy: Literal["deterministic", "sampled"] = "deterministic"

    def places(self) -> Sequence[str]:
        return self.environments


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
        ratio, interval = statistics.speed_up(pair.theirs, pair.own)
        p_value = statistics.probability_smaller(pair.own, pair.theirs).p_value
        medians = [_timesteps(statistics.censored_median(t)) for t in (pair.own, pair.theirs)]
        statistic = f"how many times later the other is, medians {' and '.join(medians)}"
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


def higher_area(data: Data, parameters: Curves, level: float) -> Outcome:
    """The algorithm's curve lies higher than the others', on average over log timesteps."""
    statistic = "how much higher its curve lies"
    return _judge_larger(data, parameters, statistics.area_under_curve, statistic, level)


def less_stable(data: Data, parameters: Curves, level: float) -> Outcome:
    """The algorithm's return falls more from one evaluation to the next than the others'."""

    def mean_fall(_: pd.Series, returns: pd.Series) -> float:
        return float(np.maximum(-np.diff(returns), 0).mean())

    return _judge_larger(data, parameters, mean_fall, "how much more it falls", level)


def less_spread(data: Data, parameters: Spread, level: float) -> Outcome:
    """The algorithm's timesteps to the threshold vary less between seeds than the others'.

    A run of the others that never arrives counts as arriving at the end of its training, which
    makes their spread no larger than it is. A logarithm has no bound where a run arrives at some
    timestep before the first evaluation.
    """
    transform: Any = {"linear": np.asarray, "log": np.log}[parameters.scale]

    def judge(pair: Pair) -> Finding:
        if np.isinf(pair.theirs).all():
            return pair.finding(NOBODY_ARRIVES, math.nan)
        if np.isinf(pair.own).any():
            return pair.finding("some of its own runs never arrive", math.nan, supports=False)
        first = min(run["timestep"].min() for run in data.runs(pair.environment, pair.algorithm))
        if parameters.scale == "log" and (pair.own <= first).any():
            return pair.finding(BEFORE_THE_FIRST, math.nan)
        own, theirs = map(transform, _at_the_latest(data, pair))
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


RULES: tuple[Rule, ...] = (earlier, higher_area, less_stable, less_spread)


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
    tested = [i for i, finding in enumerate(findings) if not math.isnan(finding.p_value)]
    holm = statistics.holm([findings[i].p_value for i in tested])
    refused = any(finding.supports is False for finding in findings)
    every = not refused and all(findings[i].p_value <= level for i in tested)
    for i, p_holm in zip(tested, holm, strict=True):
        supports = every or p_holm <= level
        findings[i] = findings[i]._replace(p_holm=p_holm, supports=supports)
    judged = [finding.supports for finding in findings if finding.supports is not None]
    if not judged:
        reasons = dict.fromkeys(finding.statistic for finding in findings)
        return Outcome(NOT_TESTED, findings, "; ".join(reasons))
    return graded(findings, partly=any(judged))


def _judge_larger(
    data: Data,
    parameters: Curves,
    measure: Callable[[pd.Series, pd.Series], float],
    statistic: str,
    level: float,
) -> Outcome:
    """Is the measure, of timesteps and returns, larger where the curves can be compared?"""

    def column(algorithm: str) -> str:
        return arrivals.POLICIES[data.policy_of(algorithm, parameters.policy)][0]

    def measured(run: pd.DataFrame, column: str) -> float:
        return measure(run["timestep"], run[column]) if len(run) >= 2 else math.nan

    def pairs() -> Iterator[Pair]:
        for environment, other in itertools.product(parameters.environments, parameters.others):
            names = (parameters.algorithm, other)
            curves = _shared_curves(data, environment, *names)
            own, theirs = (
                np.array([measured(run, column(name)) for run in runs])
                for name, runs in zip(names, curves, strict=True)
            )
            yield Pair(environment, *names, own, theirs)

    def judge(pair: Pair) -> Finding:
        theirs = data.runs(pair.environment, pair.other)
        if any(run[column(pair.other)].isna().any() for run in theirs):
            return pair.finding(NOT_RECORDED, math.nan)
        if np.isnan([*pair.own, *pair.theirs]).any():
            return pair.finding(NOTHING_SHARED, math.nan)
        p_value = statistics.probability_smaller(pair.theirs, pair.own).p_value
        higher, interval = statistics.shift(pair.own, pair.theirs)
        return pair.finding(statistic, higher, interval=interval, p_value=p_value)

    return _judge_pairs(pairs(), data, parameters, judge, level, FEWEST_SEEDS)


def _shared_curves(
    data: Data, environment: str, algorithm: str, other: str
) -> list[list[pd.DataFrame]]:
    """The runs of two algorithms, from the later first update to the earlier end of training.

    Before its first update an algorithm shows an untrained policy.
    """
    runs = [data.runs(environment, name) for name in (algorithm, other)]
    begin = max(data.first_updates.get((environment, name), 0) for name in (algorithm, other))
    end = min((run["timestep"].max() for each in runs for run in each), default=0)
    return [
        [run[(run["timestep"] > begin) & (run["timestep"] <= end)] for run in each] for each in runs
    ]
