"""The exact solve of Prop. 3 on a subset of the state-action pairs: Algorithm 1 on chosen data.

A pivoted Cholesky of the kernel chooses the pairs, for each action the ones that the others predict
worst. Unlike a low-rank model, which fits all data in a smaller space, this one fits the chosen
data in the whole space: better where a transition repeats itself exactly and the kernel is rough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.dictionary import Dictionary
from powr.exact import next_counts, table_of_pairs
from powr.kernels import Kernel
from powr.transitions import Transitions


class SubsetModel:
    """One unknown a chosen pair; weights are laid out as (pairs, actions)."""

    def __init__(self, kernel: Kernel, data: Transitions, regularization: float, max_pairs: int):
        self.kernel = kernel
        self.data = data
        self.regularization = regularization
        self.max_pairs = max_pairs

    @property
    def rank(self) -> int:
        return len(self._pairs)

    def update(self) -> None:
        data, states = self.data, self.data.index.states
        self._pairs = choose_pairs(data, self.kernel, self.max_pairs)
        self._action = data.pair_action[self._pairs]
        pair_state, count = data.pair_state[self._pairs], data.pair_count[self._pairs]
        self._gram = self.kernel(states, states[pair_state])
        same_action = self._action[:, None] == self._action[None, :]
        self._system = count[:, None] * self._gram[pair_state] * same_action
        self._system[np.diag_indices_from(self._system)] += count.sum() * self.regularization
        counts = next_counts(data, data.continuing_count)[self._pairs].tocsc()
        self._next_states = np.flatnonzero(np.diff(counts.indptr))
        self._next_counts = counts[:, self._next_states].tocsr()

    def solve(self, rewards: NDArray, policy: NDArray, gamma: float) -> NDArray:
        """Weights of the action values; rewards summed a pair, policy at the distinct states."""
        onward = self._gram[self._next_states]
        onward *= policy[np.ix_(self._next_states, self._action)]
        system = self._system - gamma * (self._next_counts @ onward)
        return self._lay_out(np.linalg.solve(system, rewards[self._pairs]))

    def regress(self, targets: NDArray) -> NDArray:
        """Weights of the kernel ridge regression on targets summed a pair."""
        return self._lay_out(np.linalg.solve(self._system, targets[self._pairs]))

    def at_states(self, weights: NDArray) -> NDArray:
        return self._gram @ weights

    def coefficients(self, weights: NDArray) -> NDArray:
        of_pairs = np.zeros(len(self.data.pair_state))
        of_pairs[self._pairs] = weights.sum(axis=1)
        return table_of_pairs(self.data, of_pairs)

    def _lay_out(self, pair_weights: NDArray) -> NDArray:
        weights = np.zeros((self.rank, self.data.n_actions))
        weights[np.arange(self.rank), self._action] = pair_weights
        return weights


def choose_pairs(data: Transitions, kernel: Kernel, max_pairs: int) -> NDArray:
    """At most max_pairs of the pairs, shared among the actions in proportion to what they have."""
    n_pairs = len(data.pair_state)
    if n_pairs <= max_pairs:
        return np.arange(n_pairs)
    chosen = []
    for action in range(data.n_actions):
        pairs = np.flatnonzero(data.pair_action == action)
        share = max_pairs * len(pairs) // n_pairs
        if share > 0:
            dictionary = Dictionary(kernel, data.index.shape, 0.0, share)
            dictionary.grow(data.index.states[data.pair_state[pairs]])
            chosen.append(pairs[dictionary.pivot_numbers])
    return np.sort(np.concatenate(chosen))
