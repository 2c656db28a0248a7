"""What a rule is asked, and what it answers: one cell, with the comparisons that it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from suite.claims.runs import Evaluations, Policy, Runs
from suite.results.statistics import NO_INTERVAL, Interval

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"

# With fewer seeds on a side no data could bring the exact p-value down to 0.05.
FEWEST_SEEDS = 3
FEWEST_SEEDS_FOR_SPREAD = 4


class Comparison(NamedTuple):
    """POWR beside one baseline, or the runs of one algorithm alone."""

    subject: str
    statistic: str
    value: float
    interval: Interval = NO_INTERVAL
    is_bound: bool = False  # the truth is the value or more
    p_for: float = math.nan  # one-sided, exact
    p_against: float = math.nan
    improvement: float = math.nan  # probability of improvement, as rliable defines it
    improvement_interval: Interval = NO_INTERVAL
    seeds: str = ""
    policy: str = ""


class Cell(NamedTuple):
    """A sentence on one environment: its verdict, and the effect in a comparison's words."""

    verdict: str
    effect: str
    comparisons: Sequence[Comparison] = ()  # the first one is the effect's
    reason: str = ""  # why it is undecided, or what contradicts it


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

    def interval(self, of: Callable[..., Interval], *arguments: Any) -> Interval:
        return of(*arguments) if self.has_intervals else NO_INTERVAL

    def missing(self, fewest: int = FEWEST_SEEDS, of: Iterable[str] = ()) -> str:
        """Which runs a rule lacks, of POWR and the baselines; empty if there are enough."""
        named = {"POWR": self.powr, **self.baselines}
        for name in of or named:
            key = named[name]
            if key not in self.evaluations:
                return f"no run of {name}"
            seeds = len(self.evaluations.runs(*key, "greedy").returns)
            if seeds < fewest:
                return f"{seeds} seeds of {name}, {fewest} are needed"
        return ""


def verdict(holds: bool, fails: bool) -> str:
    return FAILS if fails else HOLDS if holds else UNDECIDED


def count(number: float, digits: int = 0) -> str:
    """A number to read, without a negative zero."""
    return f"{round(number, digits) + 0.0:,.{digits}f}"
