"""Which plan to show: the newest, unless the last episodes were clearly worse than the best ones.

A model of a bounded number of centers may lose what it knew when the data spread. Data still come
from the newest plan, so that it can recover. Where starts or steps are random the best of many
windows of episodes is a lucky one: the more there were, the further the last must fall behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

# Episodes in a row that are compared.
_WINDOW = 8


class Episode(NamedTuple):
    """A finished episode: its return, and the plan that it began with."""

    total: float
    plan: Any


class TrackRecord:
    """The last finished episodes, and the best that came in a row."""

    def __init__(self) -> None:
        self._last: deque[Episode] = deque(maxlen=_WINDOW)
        self._best: list[Episode] = []
        self._n_episodes = 0

    def add(self, total: float, plan: Any) -> None:
        self._n_episodes += 1
        self._last.append(Episode(total, plan))
        if len(self._last) == _WINDOW and (
            not self._best or totals(self._last).mean() >= totals(self._best).mean()
        ):
            self._best = list(self._last)

    def choose(self, newest: Any) -> Any:
        """The newest plan, or that of the last of the best episodes if it was clearly better."""
        if not self._best:
            return newest
        returns, best = totals(self._last), totals(self._best)
        error = np.sqrt((returns.var(ddof=1) + best.var(ddof=1)) / _WINDOW)
        is_worse = best.mean() - returns.mean() > luck(self._n_episodes / _WINDOW) * error
        return self._best[-1].plan if is_worse else newest


def totals(episodes: Iterable[Episode]) -> np.ndarray:
    return np.array([episode.total for episode in episodes])


def luck(n_windows: float) -> float:
    """By how many standard errors the best of so many windows may exceed another one by chance.

    About that many standard deviations the largest of n normal numbers lies above their mean.
    """
    return max(1.0, float(np.sqrt(2.0 * np.log(n_windows))))
