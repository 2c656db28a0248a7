"""The rules that decide a claim: each turns data and a claim's parameters into a verdict.

claims.yaml states the rules in words and was written before the data was in. A rule sees nothing
but the evaluations of the runs, and keeps what it found beside its verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from suite.claims.theory_rules import THEORY_RULES
from suite.claims.verdicts import (
    NO_INTERVAL,
    NOT_REPRODUCED,
    NOT_TESTED,
    PARTLY,
    REPRODUCED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
)
from suite.names import algorithm_name
from suite.results import statistics
from suite.results.statistics import Interval

EVALUATIONS_AT_THE_END = 5
# With fewer seeds a side, no data could bring the exact p-value down to 0.05.
FEWEST_SEEDS = 3
FEWEST_SEEDS_FOR_SPREAD = 4


class Pair(NamedTuple):
    """One number a run: of the claim's algorithm, and of another on the same environment."""

    environment: str
    algorithm: str
    other: str
    own: np.ndarray
    theirs: np.ndarray

    def finding(
        self,
        statistic: str,
        estimate: float,
        interval: Interval = NO_INTERVAL,
        p_value: float = math.nan,
        supports: bool | None = None,
    ) -> Finding:
        names = f"{algorithm_name(self.algorithm)} against {algorithm_name(self.other)}"
        runs = ((self.environment, self.algorithm), (self.environment, self.other))
        subject = f"{self.environment}: {names}"
        return Finding(subject, statistic, estimate, interval, p_value, supports, runs)


def needed(parameters: Parameters) -> list[tuple[str, str]]:
    """The (environment, algorithm) pairs whose runs a claim needs; none for a theorem."""
    if "algorithm" not in parameters and "arrive" not in parameters:
        return []
    if "arrive" in parameters:
        algorithms = [*parameters["arrive"], *parameters["fail"]]
        return [(parameters["environment"], algorithm) for algorithm in algorithms]
    algorithms = [parameters["algorithm"], *parameters["others"]]
    return [(environment, name) for environment in _environments(parameters) for name in algorithms]


def earlier(data: Data, parameters: Parameters, level: float) -> Outcome:
    """The algorithm meets the threshold in fewer timesteps than each of the others.

    With `sampled`, by the policy that samples its actions, which the others do not record.
    """

    def judge(pair: Pair) -> Finding:
        ratio = statistics.speed_up(pair.theirs, pair.own)
        p_value = statistics.probability_smaller(pair.own, pair.theirs).p_value
        medians = [_timesteps(statistics.censored_median(t)) for t in (pair.own, pair.theirs)]
        statistic = f"how many times later the other is, medians {' and '.join(medians)}"
        return pair.finding(statistic, *ratio, p_value, p_value <= level)

    return _judge_pairs(data, parameters, _time_of(parameters), judge, FEWEST_SEEDS)


def higher_area(data: Data, parameters: Parameters, level: float) -> Outcome:
    """The algorithm's curve lies higher than the others', on average over log timesteps."""

    def area(run: pd.DataFrame) -> float:
        return statistics.area_under_curve(run["timestep"], run["mean"])

    return _judge_larger(data, parameters, area, "how much higher its curve lies", level)


def less_stable(data: Data, parameters: Parameters, level: float) -> Outcome:
    """The algorithm's return falls more from one evaluation to the next than the others'."""

    def mean_fall(run: pd.DataFrame) -> float:
        return float(np.maximum(-np.diff(run["mean"]), 0).mean())

    return _judge_larger(data, parameters, mean_fall, "how much more it falls", level)


def less_spread(data: Data, parameters: Parameters, level: float) -> Outcome:
    """The algorithm's timesteps to the threshold vary less between seeds than the others'.

    A run of the others that never arrives counts as arriving at the end of its training, which
    makes their spread no larger than it is.
    """
    transform = {"linear": np.asarray, "log": np.log}[parameters["scale"]]

    def judge(pair: Pair) -> Finding:
        if np.isinf(pair.theirs).all():
            return pair.finding("no run of the other arrives", math.nan)
        if np.isinf(pair.own).any():
            return pair.finding("some of its own runs never arrive", math.nan, supports=False)
        end = data.budgets[pair.environment, pair.other]
        own, theirs = transform(pair.own), transform(np.minimum(pair.theirs, end))
        p_value = statistics.spread_p_value(own, theirs)
        return pair.finding(
            "its spread over the other's",
            float(statistics.ratio(*map(statistics.mean_deviation, (own, theirs)))),
            statistics.bootstrap_ratio_interval(own, theirs, statistics.mean_deviation),
            p_value,
            p_value <= level,
        )

    return _judge_pairs(data, parameters, _time_of(parameters), judge, FEWEST_SEEDS_FOR_SPREAD)


def who_arrives(data: Data, parameters: Parameters, level: float) -> Outcome:
    """Most runs of some algorithms arrive at a return, and most runs of the others do not.

    An algorithm trained for less than the claim is about is left open, unless it has arrived.
    """
    environment = parameters["environment"]
    target = _target(data, parameters)
    horizons = {**parameters["arrive"], **parameters["fail"]}
    if lacking := _lacking_seeds(data, parameters, FEWEST_SEEDS):
        return Outcome(NOT_TESTED, reason=lacking)
    findings, shares = [], {}
    for algorithm, horizon in horizons.items():
        runs = data.runs(environment, algorithm)
        arrived = sum(_arrives(run, target, parameters) for run in runs)
        shares[algorithm] = arrived / len(runs)
        most = shares[algorithm] > 0.5
        trained = data.budgets[environment, algorithm]
        is_open = trained < horizon and not (most and parameters["when"] == "ever")
        confidence = stats.binomtest(arrived, len(runs)).proportion_ci()
        findings.append(
            Finding(
                f"{environment}: {algorithm_name(algorithm)}",
                f"share of runs at {target:.2f} or more, trained {trained:,} of {horizon:,}",
                shares[algorithm],
                Interval(float(confidence.low), float(confidence.high)),
                supports=None if is_open else most == (algorithm in parameters["arrive"]),
                runs=((environment, algorithm),),
            )
        )
    if any(finding.supports is None for finding in findings):
        return Outcome(NOT_TESTED, findings, "trained for fewer timesteps than the claim is about")
    if all(finding.supports for finding in findings):
        return Outcome(REPRODUCED, findings)
    capable = all(shares[algorithm] > 0 for algorithm in parameters["arrive"])
    return Outcome(PARTLY if capable else NOT_REPRODUCED, findings)


RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (earlier, higher_area, less_stable, less_spread, who_arrives, *THEORY_RULES)
}


def _environments(parameters: Parameters) -> Iterable[str]:
    return parameters["thresholds"] if "thresholds" in parameters else parameters["environments"]


def _time_of(parameters: Parameters) -> Callable[[str, pd.DataFrame], float]:
    def time(environment: str, run: pd.DataFrame) -> float:
        own = run["algorithm"].iloc[0] == parameters["algorithm"]
        returns = run["sampled_mean" if own and parameters.get("sampled") else "mean"]
        threshold = parameters["thresholds"][environment]
        return statistics.time_to_threshold(run["timestep"], returns, threshold)

    return time


def _timesteps(time: float) -> str:
    return "never" if math.isinf(time) else f"{time:,.0f}"


def _pairs(
    data: Data, parameters: Parameters, measure: Callable[[str, pd.DataFrame], float]
) -> Iterator[Pair]:
    algorithm = parameters["algorithm"]
    for environment in _environments(parameters):
        own, *others = (
            np.array([measure(environment, run) for run in data.runs(environment, name)])
            for name in (algorithm, *parameters["others"])
        )
        for other, theirs in zip(parameters["others"], others, strict=True):
            yield Pair(environment, algorithm, other, own, theirs)


def _judge_pairs(
    data: Data,
    parameters: Parameters,
    measure: Callable[[str, pd.DataFrame], float],
    judge: Callable[[Pair], Finding],
    fewest_seeds: int,
) -> Outcome:
    """Reproduced if every pair supports the claim, partly if some do."""
    if lacking := _lacking_seeds(data, parameters, fewest_seeds):
        return Outcome(NOT_TESTED, reason=lacking)
    findings = [judge(pair) for pair in _pairs(data, parameters, measure)]
    judged = [finding.supports for finding in findings if finding.supports is not None]
    if not judged:
        return Outcome(NOT_TESTED, findings, "no other algorithm arrives")
    if all(judged):
        return Outcome(REPRODUCED, findings)
    return Outcome(PARTLY if any(judged) else NOT_REPRODUCED, findings)


def _lacking_seeds(data: Data, parameters: Parameters, fewest: int) -> str:
    """Whose seeds are fewest, where they are fewer than a verdict needs; empty if they are not."""
    seeds = {pair: len(data.runs(*pair)) for pair in needed(parameters)}
    environment, algorithm = pair = min(seeds, key=seeds.get)
    if seeds[pair] >= fewest:
        return ""
    there = "1 seed" if seeds[pair] == 1 else f"{seeds[pair]} seeds"
    return f"{there} of {algorithm_name(algorithm)} on {environment}, {fewest} are needed"


def _judge_larger(
    data: Data,
    parameters: Parameters,
    measure: Callable[[pd.DataFrame], float],
    statistic: str,
    level: float,
) -> Outcome:
    """Is the measure larger, of curves up to where all algorithms of an environment are trained?"""

    def shared(environment: str, run: pd.DataFrame) -> pd.DataFrame:
        return run[run["timestep"] <= data.shared[environment]]

    def judge(pair: Pair) -> Finding:
        p_value = statistics.probability_smaller(pair.theirs, pair.own).p_value
        difference = statistics.shift(pair.own, pair.theirs)
        return pair.finding(statistic, *difference, p_value, p_value <= level)

    for environment, algorithm in needed(parameters):
        if any(len(shared(environment, run)) < 2 for run in data.runs(environment, algorithm)):
            return Outcome(NOT_TESTED, reason="fewer than two evaluations are shared")
    return _judge_pairs(data, parameters, lambda *run: measure(shared(*run)), judge, FEWEST_SEEDS)


def _target(data: Data, parameters: Parameters) -> float:
    if "at_least" in parameters:
        return parameters["at_least"]
    return data.optima[parameters["environment"]] - parameters["below_optimum"]


def _arrives(run: pd.DataFrame, target: float, parameters: Parameters) -> bool:
    returns = run[parameters["column"]]
    if parameters["when"] == "ever":
        return bool((returns >= target).any())
    return bool(returns.iloc[-EVALUATIONS_AT_THE_END:].median() >= target)
