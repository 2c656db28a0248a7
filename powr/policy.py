"""A policy is the softmax of its exponent, a function of states: Eq. (15)."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.functions import StateFunction, Table
from powr.mirror_descent import softmax


class Policy:
    """pi(a|x), proportional to the exponential of an exponent such as `KernelExpansion`.

    A call gives the exponents. It can be copied and pickled as far as its exponent can.
    """

    def __init__(self, exponents: StateFunction):
        self.exponents = exponents

    def __call__(self, states: ArrayLike) -> NDArray:
        """The exponents at n states, (n, n_actions)."""
        return self.exponents(states)

    def probabilities(self, states: ArrayLike) -> NDArray:
        """The probabilities at n states, (n, n_actions)."""
        return softmax(self(states))

    def greedy(self, states: ArrayLike) -> NDArray:
        """The likeliest action at each of n states."""
        return self(states).argmax(axis=1)

    def sample(self, states: ArrayLike, draws: NDArray) -> NDArray:
        """An action at each of n states, for n draws that are uniform on [0, 1)."""
        cumulative = self.probabilities(states).cumsum(axis=1)
        return (draws[:, None] >= cumulative[:, :-1]).sum(axis=1)

    def act(self, state: int | NDArray, draw: float) -> int:
        """The action at one state for a draw that is uniform on [0, 1)."""
        cumulative = flat_cumulative(self(np.asarray(state)[None]))
        return bisect_right(cumulative, draw, 0, len(cumulative) - 1)


class TablePolicy(Policy):
    """A policy over finitely many states, laid out so that acting is looking up."""

    def __init__(self, exponents: Table):
        super().__init__(exponents)
        self._index = exponents.index
        self._n_actions = exponents.values.shape[1]
        self._n_states = len(exponents.values)
        self._cumulative = flat_cumulative(exponents.values)
        self._cumulative += [k / self._n_actions for k in range(1, self._n_actions)]

    def act(self, state: int | NDArray, draw: float) -> int:
        row = self._index.find_one(state, missing=self._n_states)
        start = min(row, self._n_states) * self._n_actions
        return bisect_right(self._cumulative, draw, start, start + self._n_actions - 1) - start


def make_policy(exponents: StateFunction) -> Policy:
    return TablePolicy(exponents) if isinstance(exponents, Table) else Policy(exponents)


def flat_cumulative(exponents: NDArray) -> list[float]:
    """Cumulative probabilities, row after row in one list."""
    return softmax(exponents).cumsum(axis=1).ravel().tolist()
