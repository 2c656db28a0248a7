"""The rules of the eight sentences. docs/replication.md says them in words, claims.yaml names them.

Each rule judges one cell. Where the order of two runs is unknown because one of them never reaches
the threshold, it counts against the statement that is tested.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy import stats

from suite.claims.cells import (
    FAILS,
    FEWEST_SEEDS_FOR_SPREAD,
    UNDECIDED,
    Cell,
    Comparison,
    Question,
    count,
    verdict,
)
from suite.claims.runs import Definition
from suite.results import statistics
from suite.results.statistics import Interval

EVALUATIONS_AT_THE_END = 5
ROUNDING = 1e-9  # of an exact return that equals the threshold
CHECKPOINTS = [round(10 ** (exponent / 2)) for exponent in range(6, 13)]  # 1,000, 3,162, ...


def earlier(question: Question, *, times: Definition = "first") -> Cell:
    """POWR reaches the threshold in fewer timesteps than every baseline."""
    if missing := question.missing():
        return Cell(UNDECIDED, "", reason=missing)
    found = [_timesteps(question, name, times) for name in question.baselines]
    found.sort(key=lambda each: each.value)
    best = found[0]
    at_least = "at least " if best.is_bound else ""
    effect = f"{at_least}{count(best.value, 1)} times fewer timesteps than {best.subject}"
    return Cell(
        verdict(
            all(each.p_for <= question.level for each in found),
            any(each.p_against <= question.level for each in found),
        ),
        effect,
        found,
    )


def _timesteps(question: Question, name: str, definition: Definition) -> Comparison:
    policy, (own_runs, their_runs) = question.runs(question.powr, question.baselines[name])
    begin = max(own_runs.timesteps[0], their_runs.timesteps[0])
    own, theirs = (
        np.maximum(runs.times(question.threshold, definition), begin)
        for runs in (own_runs, their_runs)
    )
    # Against "earlier": a baseline that never reaches it does so at the end of its training.
    own_end, their_end = np.minimum(own, own_runs.budget), np.minimum(theirs, their_runs.budget)
    ratio, interval = statistics.speed_up(theirs, own)
    least, least_interval = statistics.speed_up(their_end, own)
    is_bound = not math.isclose(ratio, least)  # runs that never reach it decide the ratio
    earlier_than = statistics.probability_smaller(own, their_end)
    return Comparison(
        name,
        "ratio of timesteps to threshold",
        least if is_bound else ratio,
        Interval(least_interval.low, interval.high),
        is_bound,
        p_for=earlier_than.p_value,
        p_against=statistics.probability_smaller(theirs, own_end).p_value,
        improvement=earlier_than.effect,
        improvement_interval=question.interval(statistics.improvement_interval, own, their_end),
        seeds=_reached(own, theirs),
        policy=policy,
    )


def _reached(*times: np.ndarray) -> str:
    """How many runs of POWR and of the baseline reach the threshold."""
    return " and ".join(f"{np.isfinite(each).sum()} of {len(each)}" for each in times)


def higher(question: Question, *, margin: float = 0.0) -> Cell:
    """POWR has the higher return at equal timesteps."""
    if missing := question.missing():
        return Cell(UNDECIDED, "", reason=missing)
    comparisons: list[Comparison] = []
    is_higher, is_lower = [], []
    for name in question.baselines:
        found = _at_checkpoints(question, name, margin)
        comparisons += found
        is_higher.append(any(each.p_for <= question.level for each in found))
        is_lower.append(any(each.p_against <= question.level for each in found))
    if not comparisons:
        return Cell(UNDECIDED, "", reason="no checkpoint is within the training of both")
    comparisons.sort(key=lambda each: each.value)
    ends = [
        f"{count(each.value, 2)} ({each.subject})" for each in (comparisons[0], comparisons[-1])
    ]
    return Cell(
        verdict(all(is_higher) and not any(is_lower), any(is_lower)),
        f"difference of returns from {ends[0]} to {ends[1]}",
        comparisons,
    )


def _at_checkpoints(question: Question, name: str, margin: float) -> list[Comparison]:
    """One comparison per checkpoint, corrected by Holm for their number."""
    policy, pair = question.runs(question.powr, question.baselines[name])
    begin = max(runs.timesteps[0] for runs in pair)
    end = min(runs.budget for runs in pair)
    checkpoints = [each for each in CHECKPOINTS if begin <= each <= end]
    samples = [[runs.at(each) for runs in pair] for each in checkpoints]
    shifts = [statistics.shift(own, theirs) for own, theirs in samples]
    lowest = min((returns.min() for each in samples for returns in each), default=0.0)
    least = margin * (question.threshold - lowest)
    p_higher = statistics.holm(
        [statistics.probability_smaller(theirs, own).p_value for own, theirs in samples]
    )
    p_lower = statistics.holm(
        [statistics.probability_smaller(own, theirs).p_value for own, theirs in samples]
    )
    return [
        Comparison(
            f"{name} at {count(checkpoint)}",
            "difference of returns",
            shift.value,
            shift.interval,
            p_for=p_for if shift.value >= least else 1.0,
            p_against=p_against if -shift.value >= least else 1.0,
            improvement=statistics.probability_smaller(theirs, own).effect,
            seeds=f"{len(own)} and {len(theirs)}",
            policy=policy,
        )
        for checkpoint, shift, p_for, p_against, (own, theirs) in zip(
            checkpoints, shifts, p_higher, p_lower, samples, strict=True
        )
    ]


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
    asked = {**reach, **others}
    if missing := question.missing(of=asked):
        return Cell(UNDECIDED, "", reason=missing)
    target = question.threshold if threshold is None else threshold
    named = {"POWR": question.powr, **question.baselines}
    comparisons: list[Comparison] = []
    contradicting: list[str] = []
    short: list[str] = []
    for name, horizon in asked.items():
        policy, (runs,) = question.runs(named[name])
        table = runs.exact if returns == "exact" else runs.returns
        if when == "ever":
            best = table.max(axis=1)
        else:
            best = np.median(table[:, -EVALUATIONS_AT_THE_END:], axis=1)
        reached = int((best >= target - ROUNDING).sum())
        most, half = 2 * reached > len(best), 2 * reached >= len(best)
        if not half and runs.budget < horizon:
            short.append(name)
        elif not most if name in reach else half:
            contradicting.append(name)
        share = stats.binomtest(reached, len(best)).proportion_ci()
        comparisons.append(
            Comparison(
                name,
                f"share of runs at {target:g} or more",
                reached / len(best),
                Interval(float(share.low), float(share.high)),
                seeds=f"{reached} of {len(best)}",
                policy=policy,
            )
        )
    effect = ", ".join(f"{each.subject} {each.seeds}" for each in comparisons)
    reason = ""
    if contradicting:
        reason = f"contradicted by {', '.join(contradicting)}"
    elif short:
        reason = f"trained too briefly: {', '.join(short)}"
    return Cell(verdict(not short, bool(contradicting)), effect, comparisons, reason)


def less_stable(
    question: Question, *, measure: Literal["band width", "gains lost"] = "band width"
) -> Cell:
    """POWR is less stable than every baseline, and more so in the first half of the evaluations."""
    if missing := question.missing():
        return Cell(UNDECIDED, "", reason=missing)
    keys = [question.powr, *question.baselines.values()]
    windows = [question.evaluations.runs(*key, "greedy").timesteps for key in keys]
    begin, end = max(each[0] for each in windows), min(each[-1] for each in windows)
    if len(question.evaluations.runs(*question.powr, "greedy").between(begin, end).timesteps) < 4:
        return Cell(UNDECIDED, "", reason="fewer than four evaluations are within all trainings")
    found = [_stability(question, name, begin, end, measure) for name in question.baselines]
    wider = sorted((comparison for comparison, _ in found), key=lambda each: each.value)
    is_early = [early for _, early in found]
    smallest = wider[0]
    holds = all(each.p_for <= question.level for each in wider) and all(is_early)
    fails = any(each.p_against <= question.level for each in wider) or not any(is_early)
    return Cell(
        verdict(holds, fails),
        f"{measure} {smallest.value:+.0%} of the range against {smallest.subject}, larger early "
        f"against {sum(is_early)} of {len(is_early)}",
        wider,
    )


def _stability(
    question: Question, name: str, begin: float, end: float, measure: str
) -> tuple[Comparison, bool]:
    """How much less stable POWR is than one baseline, and whether the excess is larger early."""
    policy, (own, theirs) = question.runs(question.powr, question.baselines[name])
    grid = own.between(begin, end).timesteps
    own_returns, their_returns = (
        np.stack([runs.at(each) for each in grid], 1) for runs in (own, theirs)
    )
    halves = [slice(None, len(grid) // 2), slice(len(grid) // 2, None)]
    if measure == "gains lost":
        shift, p_for, p_against = _gains_lost(own_returns, their_returns)
        early, late = (
            np.median(_share_lost(own_returns[:, half]))
            - np.median(_share_lost(their_returns[:, half]))
            for half in halves
        )
        value, interval = shift
    else:
        both = np.vstack([own_returns, their_returns])
        lowest = both.min()
        way = question.threshold - lowest
        excess = np.ptp(own_returns, axis=0) - np.ptp(their_returns, axis=0)
        early, late = (excess[half].mean() for half in halves)
        value, interval = float(excess.mean() / way), statistics.NO_INTERVAL
        p_for, p_against = statistics.band_width_p_values(own_returns, their_returns)
    comparison = Comparison(
        name,
        "difference of band widths, share of the range"
        if measure == "band width"
        else "difference of shares lost",
        value,
        interval,
        p_for=p_for,
        p_against=p_against,
        seeds=f"{len(own_returns)} and {len(their_returns)}",
        policy=policy,
    )
    return comparison, bool(early > late)


def _gains_lost(own: np.ndarray, theirs: np.ndarray) -> tuple[statistics.Estimate, float, float]:
    own_lost, their_lost = _share_lost(own), _share_lost(theirs)
    return (
        statistics.shift(own_lost, their_lost),
        statistics.probability_smaller(their_lost, own_lost).p_value,
        statistics.probability_smaller(own_lost, their_lost).p_value,
    )


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
        return Cell(UNDECIDED, "", reason=missing)
    found, own_never = [], 0
    for name in question.baselines:
        policy, (own_runs, their_runs) = question.runs(question.powr, question.baselines[name])
        begin = max(own_runs.timesteps[0], their_runs.timesteps[0])
        own, theirs = (
            np.maximum(runs.times(question.threshold, times), begin)
            for runs in (own_runs, their_runs)
        )
        own_never += int(np.isinf(own).sum())
        if np.isinf(theirs).all() or np.isinf(own).any():
            continue
        ended = np.minimum(theirs, their_runs.budget)
        spread = deviation if measure == "standard deviation" else variation
        ratio = float(statistics.ratio(spread(own), spread(ended)))
        is_tested = measure == "standard deviation"
        p_for = statistics.spread_p_value(own, ended) if is_tested else float(ratio >= 1)
        p_against = statistics.spread_p_value(ended, own) if is_tested else float(ratio <= 1)
        if np.isinf(theirs).any():
            p_against = math.nan  # its spread is understated
        found.append(
            Comparison(
                name,
                f"ratio of {measure}s",
                ratio,
                question.interval(statistics.bootstrap_ratio_interval, own, ended, spread),
                p_for=p_for,
                p_against=p_against,
                seeds=_reached(own, theirs),
                policy=policy,
            )
        )
    if own_never:
        return Cell(FAILS, "", found, "a run of POWR never reaches the threshold")
    if not found:
        return Cell(UNDECIDED, "", reason="no baseline reaches the threshold")
    found.sort(key=lambda each: -each.value)
    largest = found[0]
    return Cell(
        verdict(
            all(each.p_for <= question.level for each in found),
            any(each.p_against <= question.level for each in found),
        ),
        f"{measure} {count(largest.value, 2)} times that of {largest.subject}, "
        f"{len(found)} of {len(question.baselines)} baselines reach the threshold",
        found,
    )


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
        return Cell(UNDECIDED, "", reason=missing)
    policy, (runs,) = question.runs(question.powr)
    found = runs.times(question.threshold, times)
    if np.isinf(found).any():
        return Cell(FAILS, "", (), "a run of POWR never reaches the threshold")
    spread, factor = float(variation(found)), float(found.max() / found.min())
    small = [spread <= largest_variation, factor <= largest_factor]
    comparison = Comparison(
        "POWR",
        "coefficient of variation",
        spread,
        question.interval(statistics.bootstrap_interval, found, variation),
        seeds=f"{len(found)} of {len(found)}",
        policy=policy,
    )
    effect = f"coefficient of variation {count(spread, 2)}, latest over earliest {count(factor, 1)}"
    return Cell(verdict(all(small), not any(small)), effect, [comparison])


RULES = {
    rule.__name__: rule for rule in (earlier, higher, only, less_stable, varies_less, stable_amount)
}
