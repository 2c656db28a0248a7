"""The rules of the eight sentences. docs/replication.md says them in words, claims.yaml names them.

Each rule judges one cell, a sentence on one environment. Where the order of two runs is unknown
because one of them never reaches the threshold, it counts against the statement that is tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from suite.claims.evaluations import Definition, Evaluations, Policy, Runs
from suite.results import statistics
from suite.results.statistics import NO_INTERVAL, Interval

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"

# With fewer seeds on a side no data could bring the exact p-value down to 0.05.
FEWEST_SEEDS = 3
FEWEST_SEEDS_FOR_SPREAD = 4
EVALUATIONS_AT_THE_END = 5
ROUNDING = 1e-9  # of an exact return that equals the threshold
CHECKPOINTS = [round(10 ** (exponent / 2)) for exponent in range(6, 13)]  # 1,000, 3,162, ...


class Comparison(NamedTuple):
    """POWR beside one baseline, or the runs of one algorithm alone."""

    subject: str
    statistic: str
    value: float
    low: float = math.nan
    high: float = math.nan
    bound: Literal["", "at least", "at most"] = ""  # what the truth is of the value
    p_for: float = math.nan  # one-sided, exact
    p_against: float = math.nan
    improvement: float = math.nan  # probability of improvement, as rliable defines it
    improvement_low: float = math.nan
    improvement_high: float = math.nan
    seeds: str = ""
    policy: str = ""


class Cell(NamedTuple):
    """A sentence on one environment: its verdict, and the effect in a comparison's words."""

    verdict: str = UNDECIDED
    effect: str = ""
    comparisons: Sequence[Comparison] = ()  # the first one is the effect's
    reason: str = ""  # why it is undecided, or what contradicts it


class Times(NamedTuple):
    """Timesteps to the threshold of the runs of POWR and of a baseline, and their budgets."""

    policy: Policy
    powr: np.ndarray
    baseline: np.ndarray
    powr_budget: int
    baseline_budget: int

    @property
    def reached(self) -> str:
        """How many runs of each reach the threshold."""
        counts = (f"{np.isfinite(each).sum()} of {len(each)}" for each in self[1:3])
        return " and ".join(counts)


class Question(NamedTuple):
    """A sentence on one environment, of one set of runs."""

    evaluations: Evaluations
    powr: tuple[str, str]  # environment and algorithm
    baselines: dict[str, tuple[str, str]]  # by the name that the paper uses
    threshold: float
    level: float
    policy: Policy = "sampled"  # greedy: whatever is on record
    has_intervals: bool = True  # a sensitivity needs none

    def runs(self, *keys: tuple[str, str]) -> tuple[Policy, list[Runs]]:
        """The sampled policies of runs if all have one on record, otherwise the greedy ones."""
        recorded = all(self.evaluations.has_sampled(*key) for key in keys)
        policy: Policy = "sampled" if self.policy == "sampled" and recorded else "greedy"
        return policy, [self.evaluations.runs(*key, policy) for key in keys]

    def times(self, name: str, definition: Definition) -> Times:
        """Of POWR and a baseline, from the later of their first evaluations on."""
        policy, pair = self.runs(self.powr, self.baselines[name])
        begin = max(runs.timesteps[0] for runs in pair)
        powr, baseline = (
            np.maximum(runs.times(self.threshold, definition), begin) for runs in pair
        )
        return Times(policy, powr, baseline, *(runs.budget for runs in pair))

    def interval(self, of: Callable[..., Interval], *arguments: Any) -> Interval:
        return of(*arguments) if self.has_intervals else NO_INTERVAL

    def missing(self, fewest: int = FEWEST_SEEDS, of: Iterable[str] = ()) -> str:
        """Which runs a rule lacks, of POWR and the baselines; empty if there are enough."""
        named = {"POWR": self.powr, **self.baselines}
        for name in of or named:
            if named[name] not in self.evaluations:
                return f"no run of {name}"
            seeds = len(self.evaluations.runs(*named[name], "greedy").returns)
            if seeds < fewest:
                return f"{seeds} of {fewest} seeds of {name}"
        return ""

    def verdict(self, comparisons: Iterable[Comparison]) -> str:
        """Holds if it does against every baseline, and fails if it does against any."""
        return verdict(
            all(each.p_for <= self.level for each in comparisons),
            any(each.p_against <= self.level for each in comparisons),
        )


def verdict(holds: bool, fails: bool) -> str:
    return FAILS if fails else HOLDS if holds else UNDECIDED


def count(number: float, digits: int = 0) -> str:
    """A number to read, without a negative zero."""
    return f"{round(number, digits) + 0.0:,.{digits}f}"


def by_value(comparisons: Iterable[Comparison]) -> list[Comparison]:
    return sorted(comparisons, key=lambda each: each.value)


def earlier(question: Question, *, times: Definition = "first") -> Cell:
    """POWR reaches the threshold in fewer timesteps than every baseline."""
    if missing := question.missing():
        return Cell(reason=missing)
    compared = by_value(_timesteps(question, name, times) for name in question.baselines)
    return Cell(question.verdict(compared), in_words(compared[0]), compared)


def in_words(best: Comparison) -> str:
    """A ratio of timesteps: 2 is "2.0 times fewer", a half is "2.0 times more"."""
    if math.isinf(best.value):
        return f"no ratio: {best.seeds} runs of POWR and {best.subject} reach the threshold"
    is_fewer = best.value >= 1
    factor = best.value if is_fewer else 1 / best.value
    flipped = {"at least": "at most ", "at most": "at least ", "": ""}[best.bound]
    bound = f"{best.bound} ".lstrip() if is_fewer else flipped
    than = f"{'fewer' if is_fewer else 'more'} timesteps than {best.subject}"
    return f"{bound}{count(factor, 1)} times {than}"


def _timesteps(question: Question, name: str, definition: Definition) -> Comparison:
    times = question.times(name, definition)
    # A run that never reaches it does so at the end of its training at the earliest.
    powr_end = np.minimum(times.powr, times.powr_budget)
    baseline_end = np.minimum(times.baseline, times.baseline_budget)
    least, least_interval = statistics.speed_up(baseline_end, times.powr)
    most, most_interval = statistics.speed_up(times.baseline, powr_end)
    bound: Literal["", "at least", "at most"] = ""
    if not math.isclose(least, most):  # such runs decide the ratio
        bound = "at least" if least > 0 else "at most"
    is_earlier = statistics.probability_smaller(times.powr, baseline_end)
    low, high = question.interval(statistics.improvement_interval, times.powr, baseline_end)
    return Comparison(
        name,
        "ratio of timesteps to threshold",
        least if bound == "at least" else most,
        least_interval.low,
        most_interval.high,
        bound,
        p_for=is_earlier.p_value,
        p_against=statistics.probability_smaller(times.baseline, powr_end).p_value,
        improvement=is_earlier.effect,
        improvement_low=low,
        improvement_high=high,
        seeds=times.reached,
        policy=times.policy,
    )


def higher(question: Question, *, margin: float = 0.0) -> Cell:
    """POWR has the higher return at equal timesteps."""
    if missing := question.missing():
        return Cell(reason=missing)
    by_baseline = [_at_checkpoints(question, name, margin) for name in question.baselines]
    is_higher = all(any(each.p_for <= question.level for each in some) for some in by_baseline)
    compared = by_value(each for some in by_baseline for each in some)
    is_lower = any(each.p_against <= question.level for each in compared)
    if not compared:
        return Cell(reason="no checkpoint is within the training of both")
    ends = [f"{count(each.value, 2)} ({each.subject})" for each in (compared[0], compared[-1])]
    effect = f"difference of returns from {ends[0]} to {ends[1]}"
    return Cell(verdict(is_higher, is_lower), effect, compared)


def _at_checkpoints(question: Question, name: str, margin: float) -> list[Comparison]:
    """One comparison per checkpoint, corrected by Holm for their number."""
    policy, pair = question.runs(question.powr, question.baselines[name])
    begin, end = max(runs.timesteps[0] for runs in pair), min(runs.budget for runs in pair)
    checkpoints = [each for each in CHECKPOINTS if begin <= each <= end]
    samples = [[runs.at(each) for runs in pair] for each in checkpoints]
    lowest = min((returns.min() for each in samples for returns in each), default=0.0)
    least = margin * (question.threshold - lowest)
    is_higher = [statistics.probability_smaller(baseline, powr) for powr, baseline in samples]
    is_lower = [statistics.probability_smaller(powr, baseline) for powr, baseline in samples]
    p_higher, p_lower = (
        statistics.holm([each.p_value for each in tests]) for tests in (is_higher, is_lower)
    )
    compared = []
    for i, (powr, baseline) in enumerate(samples):
        shift = statistics.shift(powr, baseline)
        compared.append(
            Comparison(
                f"{name} at {count(checkpoints[i])}",
                "difference of returns",
                shift.value,
                *shift.interval,
                p_for=p_higher[i] if shift.value >= least else 1.0,
                p_against=p_lower[i] if -shift.value >= least else 1.0,
                improvement=is_higher[i].effect,
                seeds=f"{len(powr)} and {len(baseline)}",
                policy=policy,
            )
        )
    return compared


def only(
    question: Question,
    *,
    reach: dict[str, int],
    others: dict[str, int],
    when: Literal["ever", "end"],
    returns: Literal["played", "exact"],
    threshold: float | None = None,
) -> Cell:
    """Most runs of some algorithms reach a return, and most runs of the others do not.

    `reach` and `others` say after how many timesteps of training a run that has not reached it
    counts as one that does not. `when`: at any evaluation, or by the median of the last five.
    """
    horizons = {**reach, **others}
    if missing := question.missing(of=horizons):
        return Cell(reason=missing)
    target = question.threshold if threshold is None else threshold
    keys = {"POWR": question.powr, **question.baselines}
    compared: list[Comparison] = []
    contradicting: list[str] = []
    short: list[str] = []
    for name, horizon in horizons.items():
        policy, (runs,) = question.runs(keys[name])
        table = runs.exact if returns == "exact" else runs.returns
        if when == "ever":
            best = table.max(axis=1)
        else:
            best = np.median(table[:, -EVALUATIONS_AT_THE_END:], axis=1)
        reached, seeds = int((best >= target - ROUNDING).sum()), len(best)
        if 2 * reached < seeds and runs.budget < horizon:
            short.append(name)
        elif 2 * reached <= seeds if name in reach else 2 * reached >= seeds:
            contradicting.append(name)
        low, high = map(float, stats.binomtest(reached, seeds).proportion_ci())
        ratio, of_seeds = reached / seeds, f"{reached} of {seeds}"
        statistic = f"share of runs at {target:g} or more"
        compared.append(
            Comparison(name, statistic, ratio, low, high, seeds=of_seeds, policy=policy)
        )
    effect = ", ".join(f"{each.subject} {each.seeds}" for each in compared)
    reason = ""
    if contradicting:
        reason = f"contradicted by {', '.join(contradicting)}"
    elif short:
        reason = f"trained too briefly: {', '.join(short)}"
    return Cell(verdict(not short, bool(contradicting)), effect, compared, reason)


def less_stable(
    question: Question, *, measure: Literal["band width", "gains lost"] = "band width"
) -> Cell:
    """POWR is less stable than every baseline, and more so in the first half of the evaluations."""
    if missing := question.missing():
        return Cell(reason=missing)
    keys = [question.powr, *question.baselines.values()]
    grid, *others = (question.evaluations.runs(*key, "greedy").timesteps for key in keys)
    for other in others:  # the evaluations within all trainings
        grid = grid[(grid >= other[0]) & (grid <= other[-1])]
    if len(grid) < 4:
        return Cell(reason="fewer than four evaluations are within all trainings")
    pairs = [_stability(question, name, grid, measure) for name in question.baselines]
    compared, is_early = by_value(each for each, _ in pairs), [early for _, early in pairs]
    against = question.verdict(compared)
    holds, fails = against == HOLDS and all(is_early), against == FAILS or not any(is_early)
    smallest = compared[0]
    effect = (
        f"{measure} {smallest.value:+.0%} against {smallest.subject}, larger early "
        f"against {sum(is_early)} of {len(is_early)}"
    )
    return Cell(verdict(holds, fails), effect, compared)


def _stability(
    question: Question, name: str, grid: np.ndarray, measure: str
) -> tuple[Comparison, bool]:
    """How much less stable POWR is than one baseline, and whether the excess is larger early."""
    policy, pair = question.runs(question.powr, question.baselines[name])
    powr, baseline = (runs.at(grid) for runs in pair)
    halves = slice(None, len(grid) // 2), slice(len(grid) // 2, None)
    if measure == "gains lost":
        statistic = "difference of shares lost"
        lost, baseline_lost = _share_lost(powr), _share_lost(baseline)
        value, (low, high) = statistics.shift(lost, baseline_lost)
        p_for = statistics.probability_smaller(baseline_lost, lost).p_value
        p_against = statistics.probability_smaller(lost, baseline_lost).p_value
        early, late = (
            np.median(_share_lost(powr[:, half])) - np.median(_share_lost(baseline[:, half]))
            for half in halves
        )
    else:
        statistic = "difference of band widths, share of the range"
        excess = np.ptp(powr, axis=0) - np.ptp(baseline, axis=0)
        value = float(excess.mean() / (question.threshold - min(powr.min(), baseline.min())))
        low, high = NO_INTERVAL
        p_for, p_against = statistics.band_width_p_values(powr, baseline)
        early, late = (excess[half].mean() for half in halves)
    tested: dict[str, Any] = {"p_for": p_for, "p_against": p_against, "policy": policy}
    seeds = f"{len(powr)} and {len(baseline)}"
    comparison = Comparison(name, statistic, value, low, high, seeds=seeds, **tested)
    return comparison, bool(early > late)


def _share_lost(returns: np.ndarray) -> np.ndarray:
    """Of what each run gains between evaluations, the share that it loses again.

    A run that never gains anything has nothing to lose.
    """
    steps = np.diff(returns, axis=1)
    gains, losses = np.maximum(steps, 0).sum(axis=1), np.maximum(-steps, 0).sum(axis=1)
    return np.where(gains > 0, losses / np.where(gains > 0, gains, 1), 0.0)


def varies_less(
    question: Question,
    *,
    times: Definition = "first",
    measure: Literal["standard deviation", "coefficient of variation"] = "standard deviation",
) -> Cell:
    """POWR's timesteps to threshold vary less between seeds than those of every baseline.

    A run of a baseline that never reaches it counts at the end of its training, which understates
    the baseline's spread. Coefficients of variation are compared as they are, without a test.
    """
    if missing := question.missing(FEWEST_SEEDS_FOR_SPREAD):
        return Cell(reason=missing)
    pairs = {name: question.times(name, times) for name in question.baselines}
    compared = [
        _spreads(question, name, each, measure)
        for name, each in pairs.items()
        if np.isfinite(each.powr).all() and np.isfinite(each.baseline).any()
    ]
    if any(np.isinf(each.powr).any() for each in pairs.values()):
        return Cell(FAILS, "", compared, "a run of POWR never reaches the threshold")
    if not compared:
        return Cell(reason="no baseline reaches the threshold")
    compared.sort(key=lambda each: -each.value)
    effect = (
        f"{measure} {count(compared[0].value, 2)} times that of {compared[0].subject}, "
        f"{len(compared)} of {len(pairs)} baselines reach the threshold"
    )
    return Cell(question.verdict(compared), effect, compared)


def _spreads(question: Question, name: str, times: Times, measure: str) -> Comparison:
    powr, ended = times.powr, np.minimum(times.baseline, times.baseline_budget)
    spread = deviation if measure == "standard deviation" else variation
    ratio = float(statistics.ratio(spread(powr), spread(ended)))
    low, high = question.interval(statistics.bootstrap_interval, spread, powr, ended)
    p_for, p_against = float(ratio >= 1), float(ratio <= 1)
    if measure == "standard deviation":
        p_for = statistics.spread_p_value(powr, ended)
        p_against = statistics.spread_p_value(ended, powr)
    if np.isinf(times.baseline).any():
        p_against = math.nan  # its spread is understated
    tested: dict[str, Any] = {"p_for": p_for, "p_against": p_against, "policy": times.policy}
    statistic = f"ratio of {measure}s"
    return Comparison(name, statistic, ratio, low, high, seeds=times.reached, **tested)


def deviation(values: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.std(values, axis=axis, ddof=1)


def variation(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Coefficient of variation."""
    return np.std(values, axis=axis, ddof=1) / np.mean(values, axis=axis)


def stable_amount(
    question: Question,
    *,
    largest_variation: float,
    largest_factor: float,
    times: Definition = "first",
) -> Cell:
    """POWR's timesteps to threshold have a small coefficient of variation and a small range."""
    if missing := question.missing(of=["POWR"]):
        return Cell(reason=missing)
    policy, (runs,) = question.runs(question.powr)
    reached = runs.times(question.threshold, times)
    if np.isinf(reached).any():
        return Cell(FAILS, reason="a run of POWR never reaches the threshold")
    spread, factor = float(variation(reached)), float(reached.max() / reached.min())
    small = [spread <= largest_variation, factor <= largest_factor]
    low, high = question.interval(statistics.bootstrap_interval, variation, reached)
    of_seeds, statistic = f"{len(reached)} of {len(reached)}", "coefficient of variation"
    comparison = Comparison("POWR", statistic, spread, low, high, seeds=of_seeds, policy=policy)
    effect = f"{statistic} {count(spread, 2)}, latest over earliest {count(factor, 1)}"
    return Cell(verdict(all(small), not any(small)), effect, [comparison])


RULES = {
    rule.__name__: rule for rule in (earlier, higher, only, less_stable, varies_less, stable_amount)
}
