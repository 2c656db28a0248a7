"""Visits of state-action pairs in finite environments, and when they are worth a new plan."""

from __future__ import annotations

from typing import Any

# A pair's estimate is worth a new plan when its count has grown by this factor.
_GROWTH_OF_PAIR = 1.5

# Beyond this many visited states, a plan for each new pair would dominate the run time: the cost of
# a plan grows with the states, and so does the number of pairs. Plans then wait until this share of
# the pairs has changed.
_MANY_STATES = 1_000
_SHARE_OF_PAIRS = 0.01


class Visits:
    """Counts visits of pairs and compares their outcomes; `unplanned` ones changed since a plan."""

    def __init__(self) -> None:
        self.is_random = False
        self.unplanned: set[tuple[Any, int]] = set()
        self._states: set[Any] = set()
        self._outcome: dict[tuple[Any, int], tuple] = {}
        self._count: dict[tuple[Any, int], int] = {}
        self._next_count: dict[tuple[Any, int], float] = {}

    def observe(self, pair: tuple[Any, int], outcome: tuple) -> bool:
        """Take in one visit of a pair; True where a plan is worth making before the episode ends.

        An unplanned pair that is revisited does not wait: the optimistic policy can loop there.
        """
        is_revisited = pair in self.unplanned
        self._states.add(pair[0])
        count = self._count[pair] = self._count.get(pair, 0) + 1
        if self._outcome.setdefault(pair, outcome) != outcome:
            self.is_random = True
        if count >= self._next_count.get(pair, 0) and (count == 1 or self.is_random):
            self._next_count[pair] = count * _GROWTH_OF_PAIR
            self.unplanned.add(pair)
        if len(self._states) <= _MANY_STATES:
            return bool(self.unplanned)
        return is_revisited or len(self.unplanned) >= _SHARE_OF_PAIRS * len(self._count)
