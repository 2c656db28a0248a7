"""Action values by the exact solve of Prop. 3: (K_lambda - gamma M_pi) c = y, repeats collapsed.

With w the sum of c over the repeats of each pair, N their counts, Gamma the Gram matrix of the
distinct states and C the counts of next states, the system of n unknowns becomes one a pair:

    (N K + n lambda - gamma C (Gamma * pi)) w = summed rewards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from powr.kernels import Kernel
from powr.transitions import Transitions


class ExactModel:
    """One unknown a distinct pair; weights are coefficients over the distinct states."""

    def __init__(self, kernel: Kernel, data: Transitions, regularization: float):
        self.kernel = kernel
        self.data = data
        self.regularization = regularization

    @property
    def rank(self) -> int:
        return len(self.data.index)

    def update(self) -> None:
        data = self.data
        self._gram = self.kernel(data.index.states, data.index.states)
        same_action = data.pair_action[:, None] == data.pair_action[None, :]
        gram_of_pairs = self._gram[np.ix_(data.pair_state, data.pair_state)] * same_action
        self._system = data.pair_count[:, None] * gram_of_pairs
        self._system[np.diag_indices_from(self._system)] += data.size * self.regularization
        self._next_counts = next_counts(data, data.continuing_count)

    def solve(self, rewards: NDArray, policy: NDArray, gamma: float) -> NDArray:
        """Weights of the action values; rewards summed a pair, policy at the distinct states."""
        data = self.data
        onward = self._gram[:, data.pair_state] * policy[:, data.pair_action]
        system = self._system - gamma * (self._next_counts @ onward)
        return table_of_pairs(data, np.linalg.solve(system, rewards))

    def regress(self, targets: NDArray) -> NDArray:
        """Weights of the kernel ridge regression on targets summed a pair."""
        return table_of_pairs(self.data, np.linalg.solve(self._system, targets))

    def at_states(self, weights: NDArray) -> NDArray:
        return self._gram @ weights

    def coefficients(self, weights: NDArray) -> NDArray:
        return weights


def next_counts(data: Transitions, counts: NDArray) -> csr_array:
    """Counts of the triples as a sparse (pairs, states) matrix."""
    shape = (len(data.pair_state), len(data.index))
    return csr_array((counts, (data.triple_pair, data.triple_next)), shape=shape)


def table_of_pairs(data: Transitions, pair_values: NDArray) -> NDArray:
    """Values of the pairs laid out as (states, actions), zero where a pair was never seen."""
    table = np.zeros((len(data.index), data.n_actions))
    table[data.pair_state, data.pair_action] = pair_values
    return table
