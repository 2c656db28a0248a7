"""Which plan to show: the newest, unless the last episodes were clearly worse than the best ones."""

from __future__ import annotations

from collections import deque
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Plan = TypeVar("Plan")

# Episodes in a row that are compared, and by how many standard errors of the difference of their
# mean returns the last ones have to be worse.
_WINDOW = 5
_STANDARD_ERRORS = 2.0


class Episode(NamedTuple, Generic[Plan]):
    """A finished episode: its return, and the plan that it began with."""

    total: float
    plan: Plan


class TrackRecord(Generic[Plan]):
    """The last episodes, and the best that came in a row, each with the plan it began with.

    A model of a bounded number of centers may lose what it knew when the data spread. Data still
    come from the newest plan, so that it can recover.
    """

    def __init__(self) -> None:
        self._last: deque[Episode[Plan]] = deque(maxlen=_WINDOW)
        self._best: list[Episode[Plan]] = []

    def add(self, total: float, plan: Plan) -> None:
        self._last.append(Episode(total, plan))
        if len(self._last) == _WINDOW and (
            not self._best or self._mean(self._last) >= self._mean(self._best)
        ):
            self._best = list(self._last)

    def choose(self, newest: Plan) -> Plan:
        """The newest plan, or that of the best episodes if the last ones are worse."""
        if not self._best:
            return newest
        loss = self._mean(self._best) - self._mean(self._last)
        variances = [np.var([e.total for e in w], ddof=1) for w in (self._best, self._last)]
        error = np.sqrt(sum(variances) / _WINDOW)
        return self._best[-1].plan if loss > _STANDARD_ERRORS * error else newest

    def _mean(self, episodes):
        return np.mean([episode.total for episode in episodes])
