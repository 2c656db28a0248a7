"""Functions of states, (n,) or (n, d), to one number per action, (n, n_actions).

They are small objects rather than closures, so that they can be copied and pickled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.data import StateIndex
from powr.kernels import Dirac, Kernel, expansion
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
