"""The empirical model of a finite environment: counts of observed outcomes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from baselines.classic.agent import Step


class CountModel:
    """Visits and summed rewards, (n_states, n_actions), and the counts of next states.

    The next state of a terminated step is n_states, an outcome like any other, but with value 0.
    """

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.n_states = n_states
        self.visits = np.zeros((n_states, n_actions), int)
        self.reward_sums = np.zeros((n_states, n_actions))
        self._outcomes: Counter[tuple[int, int]] = Counter()

    def add(self, step: Step) -> None:
        self.visits[step.state, step.action] += 1
        self.reward_sums[step.state, step.action] += step.reward
        pair = int(step.state) * self.visits.shape[1] + step.action
        self._outcomes[pair, self.n_states if step.terminated else int(step.next_state)] += 1

    def outcomes(self) -> tuple[NDArray, NDArray, NDArray]:
        """Pair, next state and count of every observed outcome; pairs are s * n_actions + a."""
        pairs, next_states = np.array(list(self._outcomes), int).reshape(-1, 2).T
        return pairs, next_states, np.array(list(self._outcomes.values()), float)
