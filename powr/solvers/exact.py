"""The exact solve of Prop. 3: (K_lambda - gamma M_pi) c = y, with repeated pairs collapsed.

With w the sum of c over the repeats of each pair, N their counts, K and Gamma the kernel from the
pairs' states to themselves and from the next states to them, and C the counts of next states, the
system of n unknowns becomes one with an unknown per pair:

    (N K + n lambda - gamma C (Gamma * pi)) w = summed rewards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.data import Counts
from powr.kernels import Kernel, gram_matrix

# Bytes that a system may take while it is solved, and the arrays of its size that are then held.
LARGEST_SYSTEM = 4 * 2**30
_ARRAYS = 5


class ExactModel:
    """One unknown per distinct pair; weights are laid out as (pairs, actions)."""

    def __init__(self, kernel: Kernel, data: Counts):
        self.kernel = kernel
        self.data = data

    @property
    def rank(self) -> int:
        return len(self.data.pair_state)

    def update(self) -> None:
        data, states = self.data, self.data.index.states
        needed = 8 * self.rank * (_ARRAYS * self.rank + len(states))
        if needed > LARGEST_SYSTEM:  # refused before anything is allocated
            raise MemoryError(
                f"the exact solve on {self.rank} distinct state-action pairs would take "
                f"{needed / 2**30:.3g} GB, more than powr.solvers.exact.LARGEST_SYSTEM "
                f'({LARGEST_SYSTEM / 2**30:.3g} GB): use method="auto" or method="nystrom"'
            )
        self._action = data.pair_action
        self._gram = gram_matrix(self.kernel, states, states[data.pair_state])
        same_action = self._action[:, None] == self._action[None, :]
        self._NK = data.pair_count[:, None] * self._gram[data.pair_state] * same_action
        counts = data.next_counts(data.continuing_count).tocsc()
        self._next_states = np.flatnonzero(np.diff(counts.indptr))
        self._next_counts = counts[:, self._next_states].tocsr()

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        M = self._gram[self._next_states]
        M *= policy[np.ix_(self._next_states, self._action)]
        M = self._next_counts @ M
        M *= gamma
        system = self._ridge_system(regularization)
        system -= M
        return self._lay_out(np.linalg.solve(system, rewards))

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        return self._lay_out(np.linalg.solve(self._ridge_system(regularization), targets))

    def at_states(self, weights: NDArray) -> NDArray:
        return self._gram @ weights

    def coefficients(self, weights: NDArray) -> NDArray:
        table = np.zeros((len(self.data.index), self.data.n_actions))
        table[self.data.pair_state, self._action] = weights.sum(axis=1)
        return table

    def _ridge_system(self, regularization: float) -> NDArray:
        """N K + n lambda, in an array of its own."""
        system = self._NK.copy()
        system[np.diag_indices_from(system)] += self.data.size * regularization
        return system

    def _lay_out(self, pair_weights: NDArray) -> NDArray:
        weights = np.zeros((self.rank, self.data.n_actions))
        weights[np.arange(self.rank), self._action] = pair_weights
        return weights
