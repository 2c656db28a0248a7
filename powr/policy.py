"""Policies, and the functions of states that they are softmaxes of: Eq. (15).

They are small objects rather than closures, so that they can be copied and pickled.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.data import StateIndex
from powr.kernels import Dirac, Kernel, expansion
from powr.mirror_descent import softmax
from powr.validation import check_states

StateFunction = Callable[[ArrayLike], NDArray]


class KernelExpansion:
    """x -> k(x, centers) weights, from (n,) or (n, d) states to (n, n_actions)."""

    def __init__(self, kernel: Kernel, centers: NDArray, weights: NDArray):
        self.kernel = kernel
        self.centers = centers
        self.weights = weights

    def __call__(self, states: ArrayLike) -> NDArray:
        states = check_states(states, shape=self.centers.shape[1:])
        return expansion(self.kernel, states, self.centers, self.weights)


class Table:
    """The values of the first states of an index, 0 elsewhere.

    The index may grow: states numbered after the values were made have the value 0.
    """

    def __init__(self, index: StateIndex, values: NDArray):
        self.index = index
        self._rows = np.vstack([values, np.zeros(values.shape[1])])

    @property
    def values(self) -> NDArray:
        return self._rows[:-1]

    def __call__(self, states: ArrayLike) -> NDArray:
        states, unseen = check_states(states, shape=self.index.shape), len(self._rows) - 1
        return self._rows[np.minimum(self.index.find(states, missing=unseen), unseen)]


class Zero:
    """0 for every state and action: the exponent of the uniform policy."""

    def __init__(self, n_actions: int):
        self.n_actions = n_actions

    def __call__(self, states: ArrayLike) -> NDArray:
        return np.zeros((np.asarray(states).shape[0], self.n_actions))


def expand(kernel: Kernel, index: StateIndex, coefficients: NDArray) -> KernelExpansion | Table:
    """The function k(x, states) C, for coefficients over the first states of an index."""
    if isinstance(kernel, Dirac):
        return Table(index, coefficients)
    centers = coefficients.any(axis=1)
    states = index.states[: len(coefficients)]
    return KernelExpansion(kernel, states[centers], coefficients[centers])


class Policy:
    """pi(a|x), the softmax of an exponent such as `KernelExpansion`; a call gives the exponents."""

    def __init__(self, exponents: StateFunction):
        self.exponents = exponents

    def __call__(self, states: ArrayLike) -> NDArray:
        """The exponents at n states, (n, n_actions)."""
        return self.exponents(states)

    def probabilities(self, states: ArrayLike) -> NDArray:
        """The probabilities at n states, (n, n_actions)."""
        return softmax(self(states))

    def greedy(self, states: ArrayLike) -> NDArray:
        """The most probable action at each of n states."""
        return self(states).argmax(axis=1)

    def sample(self, states: ArrayLike, draws: NDArray) -> NDArray:
        """An action at each of n states, for n draws that are uniform on [0, 1)."""
        cumulative = self.probabilities(states).cumsum(axis=1)
        return (draws[:, None] >= cumulative[:, :-1]).sum(axis=1)

    def act(self, state: int | NDArray, draw: float) -> int:
        """The action at one state for a draw that is uniform on [0, 1)."""
        cumulative = _flat_cumulative(self(np.asarray(state)[None]))
        return bisect_right(cumulative, draw, 0, len(cumulative) - 1)


class TablePolicy(Policy):
    """A policy over finitely many states, laid out so that acting is a look-up."""

    def __init__(self, exponents: Table):
        super().__init__(exponents)
        self._index = exponents.index
        self._n_actions = exponents.values.shape[1]
        self._n_states = len(exponents.values)
        self._cumulative = _flat_cumulative(exponents.values)
        self._cumulative += [k / self._n_actions for k in range(1, self._n_actions)]

    def act(self, state: int | NDArray, draw: float) -> int:
        row = self._index.find_one(state, missing=self._n_states)
        start = min(row, self._n_states) * self._n_actions
        return bisect_right(self._cumulative, draw, start, start + self._n_actions - 1) - start


def make_policy(exponents: StateFunction) -> Policy:
    return TablePolicy(exponents) if isinstance(exponents, Table) else Policy(exponents)


def uniform_policy(n_actions: int) -> Policy:
    return Policy(Zero(n_actions))


def _flat_cumulative(exponents: NDArray) -> list[float]:
    """Cumulative probabilities, row after row in one list."""
    return softmax(exponents).cumsum(axis=1).ravel().tolist()
