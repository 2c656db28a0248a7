"""Functions of states with one value per action: sums over a kernel, tables, constants.

They are small objects rather than closures, so that what is made of them (action values, policies)
can be copied and pickled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.kernels import Dirac, Kernel, expansion
from powr.transitions import StateIndex
from powr.validation import check_states

StateFunction = Callable[[ArrayLike], NDArray]


class KernelExpansion:
    """x -> k(x, centers) weights + offset, from (n,) or (n, d) states to (n, n_actions)."""

    def __init__(self, kernel: Kernel, centers: NDArray, weights: NDArray, offset: float = 0.0):
        self.kernel = kernel
        self.centers = centers
        self.weights = weights
        self.offset = offset

    def __call__(self, states: ArrayLike) -> NDArray:
        states = check_states(states, shape=self.centers.shape[1:])
        return expansion(self.kernel, states, self.centers, self.weights) + self.offset


class Table:
    """The values of the first states of an index, plus an offset; the offset alone elsewhere.

    The index may grow: states beyond the values were never seen by them.
    """

    def __init__(self, index: StateIndex, values: NDArray, offset: float = 0.0):
        self.index = index
        self.offset = offset
        self._rows = np.vstack([values, np.zeros(values.shape[1])])

    @property
    def values(self) -> NDArray:
        return self._rows[:-1]

    def __call__(self, states: ArrayLike) -> NDArray:
        states, unseen = check_states(states, shape=self.index.shape), len(self._rows) - 1
        numbers = np.minimum(self.index.find(states, missing=unseen), unseen)
        return self._rows[numbers] + self.offset


class Constant:
    """The same value for every state and action."""

    def __init__(self, value: float, n_actions: int):
        self.value = value
        self.n_actions = n_actions

    def __call__(self, states: ArrayLike) -> NDArray:
        n_states = np.asarray(states).shape[0]
        return np.full((n_states, self.n_actions), self.value)


def expand(
    kernel: Kernel, index: StateIndex, coefficients: NDArray, offset: float = 0.0
) -> KernelExpansion | Table:
    """The function k(x, states) C + offset, for coefficients over the first states of an index."""
    if isinstance(kernel, Dirac):
        return Table(index, coefficients, offset)
    carrying = coefficients.any(axis=1)
    centers = index.states[: len(coefficients)][carrying]
    return KernelExpansion(kernel, centers, coefficients[carrying], offset)
