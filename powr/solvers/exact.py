"""Action values by the exact solve of Prop. 3: (K_lambda - gamma M_pi) c = y, repeats collapsed.

With w the sum of c over the repeats of each pair, N their counts, K and Gamma the kernel from the
pairs' states to themselves and from the next states to them, and C the counts of next states, the
system of n unknowns becomes one with an unknown per pair:

    (N K + n lambda - gamma C (Gamma * pi)) w = summed rewards.

Given `max_pairs` it is solved on the pairs that `subset.py` chooses: Algorithm 1 on chosen data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from powr import kernels
from powr.kernels import Kernel, expansion, gram_matrix
from powr.solvers.subset import choose_pairs
from powr.transitions import Transitions

# Bytes that a system may take while it is solved, and the arrays of its size that are then held.
LARGEST_SYSTEM = 4 * 2**30
_ARRAYS = 5


class ExactModel:
    """One unknown per distinct pair; weights are laid out as (pairs, actions)."""

    def __init__(self, kernel: Kernel, data: Transitions, max_pairs: int | None = None):
        self.kernel = kernel
        self.data = data
        self.max_pairs = max_pairs

    @property
    def rank(self) -> int:
        return len(self._pairs)

    def update(self) -> None:
        data, states = self.data, self.data.index.states
        self._pairs = np.arange(len(data.pair_state))
        if self.max_pairs is not None:
            self._pairs = choose_pairs(data, self.kernel, self.max_pairs)
        check_size(self.rank)
        self._action = data.pair_action[self._pairs]
        pair_state, count = data.pair_state[self._pairs], data.pair_count[self._pairs]
        self._centers = states[pair_state]
        self._gram = None
        if len(states) * self.rank <= kernels.LARGEST_GRAM:
            self._gram = gram_matrix(self.kernel, states, self._centers)
        same_action = self._action[:, None] == self._action[None, :]
        self._covariance = count[:, None] * self._gram_rows(pair_state) * same_action
        self._n_transitions = count.sum()
        counts = next_counts(data, data.continuing_count)[self._pairs].tocsc()
        self._next_states = np.flatnonzero(np.diff(counts.indptr))
        self._next_counts = counts[:, self._next_states].tocsr()

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """Weights of the action values; rewards summed per pair, policy at the distinct states."""
        onward = self._gram_rows(self._next_states)
        onward *= policy[np.ix_(self._next_states, self._action)]
        onward = self._next_counts @ onward
        onward *= gamma
        system = self._ridge_system(regularization)
        system -= onward
        return self._lay_out(np.linalg.solve(system, rewards[self._pairs]))

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """Weights of the kernel ridge regression on targets summed per pair."""
        system = self._ridge_system(regularization)
        return self._lay_out(np.linalg.solve(system, targets[self._pairs]))

    def at_states(self, weights: NDArray) -> NDArray:
        if self._gram is None:
            return expansion(self.kernel, self.data.index.states, self._centers, weights)
        return self._gram @ weights

    def coefficients(self, weights: NDArray) -> NDArray:
        table = np.zeros((len(self.data.index), self.data.n_actions))
        table[self.data.pair_state[self._pairs], self._action] = weights.sum(axis=1)
        return table

    def _ridge_system(self, regularization: float) -> NDArray:
        """N K + n lambda, in an array of its own."""
        system = self._covariance.copy()
        system[np.diag_indices_from(system)] += self._n_transitions * regularization
        return system

    def _gram_rows(self, states: NDArray) -> NDArray:
        """The kernel from the states of these numbers to those of the pairs."""
        if self._gram is None:
            return gram_matrix(self.kernel, self.data.index.states[states], self._centers)
        return self._gram[states]

    def _lay_out(self, pair_weights: NDArray) -> NDArray:
        weights = np.zeros((self.rank, self.data.n_actions))
        weights[np.arange(self.rank), self._action] = pair_weights
        return weights


def check_size(n_pairs: int) -> None:
    """Refuse a system that would not fit in memory, before anything is allocated."""
    needed = _ARRAYS * 8 * n_pairs**2
    if needed > LARGEST_SYSTEM:
        raise MemoryError(
            f"the exact solve on {n_pairs} distinct state-action pairs would take "
            f"{needed / 2**30:.3g} GB, more than powr.solvers.exact.LARGEST_SYSTEM "
            f'({LARGEST_SYSTEM / 2**30:.3g} GB): use method="auto", or another method with a '
            "smaller max_rank"
        )


def next_counts(data: Transitions, counts: NDArray) -> csr_array:
    """Counts of the triples as a sparse (pairs, states) matrix."""
    shape = (len(data.pair_state), len(data.index))
    return csr_array((counts, (data.triple_pair, data.triple_next)), shape=shape)
