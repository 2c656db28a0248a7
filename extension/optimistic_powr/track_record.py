"""Which plan to show: the newest, unless the last episodes were clearly worse than the best ones.

A model of a bounded number of centers may lose what it knew when the data spread. Data still come
from the newest plan, so that it can recover.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

# Episodes in a row that are compared, and by how many standard errors of the difference of their
# mean returns the last ones have to be worse.
_WINDOW = 8
_STANDARD_ERRORS = 1.0


class Episode(NamedTuple):
    """A finished episode: its return, and the plan that it began with."""

    total: float
    plan: Any


class TrackRecord:
    """The last finished episodes, and the best that came in a row."""

    def __init__(self) -> None:
        self._last: deque[Episode] = deque(maxlen=_WINDOW)
        self._best: list[Episode] = []

    def add(self, total: float, plan: Any) -> None:
        self._last.append(Episode(total, plan))
        if len(self._last) == _WINDOW and (
            not self._best or totals(self._last).mean() >= totals(self._best).mean()
        ):
            self._best = list(self._last)

    def choose(self, newest: Any) -> Any:
        """The newest plan, or that of the last of the best episodes if it was clearly better."""
        if not self._best or not is_worse(totals(self._last), totals(self._best)):
            return newest
        return self._best[-1].plan


def totals(episodes: Iterable[Episode]) -> np.ndarray:
    return np.array([episode.total for episode in episodes])


def is_worse(returns: np.ndarray, best: np.ndarray) -> bool:
    """Whether the mean is lower, by more than the standard error of the difference allows."""
    error = np.sqrt(returns.var(ddof=1) / len(returns) + best.var(ddof=1) / len(best))
    return bool(best.mean() - returns.mean() > _STANDARD_ERRORS * error)
