"""Action values in the span of a dictionary: the solve of Prop. 3 as ridge LSTD-Q.

With features phi from a pivoted Cholesky, q(x, a) = phi(x).w_a and

    (Z'Z + n lambda - gamma Z'Z_pi) w = Z'y,

where row i of Z is phi(x_i) in the block of action a_i, and row i of Z_pi is (1 - d_i) phi(x'_i)
weighted by pi(.|x'_i) over the blocks. What is free of the policy is kept as sums over the data, to
which new transitions are added.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from powr.kernels import Kernel
from powr.solvers.dictionary import Dictionary
from powr.transitions import Transitions

# Rows gathered for one product: few enough to stay in cache, enough for BLAS to run at full speed.
_ROWS = 1024


class LowRankModel:
    """Rank-many unknowns per action; weights are over the dictionary's features."""

    def __init__(
        self,
        kernel: Kernel,
        data: Transitions,
        tolerance: float,
        max_rank: int,
    ):
        self.kernel = kernel
        self.data = data
        self.tolerance = tolerance
        self.max_rank = max_rank
        self._begin()

    def _begin(self) -> None:
        """Hold nothing, and choose pivots among all the states there are now."""
        data = self.data
        self.dictionary = Dictionary(self.kernel, data.index.shape, self.tolerance, self.max_rank)
        self._n_states_at_choice = len(data.index)
        self._features = FeatureTable()
        # Sums over the data, one per action: phi(x) phi(x)' and (1 - d) phi(x) phi(x')'.
        self._gram = np.empty((data.n_actions, 0, 0))
        self._next_gram = np.empty((data.n_actions, 0, 0))
        self._summed_pairs = np.empty(0)
        self._summed_triples = np.empty(0)

    @property
    def rank(self) -> int:
        return self.dictionary.rank

    def update(self) -> None:
        """Take in what the data gained: O(rank^2) per transition, O(n rank) per new pivot.

        A full dictionary cannot follow the data to new places: it is chosen anew each time the
        states have grown by half.
        """
        if self.rank == self.max_rank and len(self.data.index) > 1.5 * self._n_states_at_choice:
            self._begin()
        self._extend_features()
        self._widen_sums()
        data = self.data
        pair_gain = _difference(data.pair_count, self._summed_pairs)
        triple_gain = _difference(data.continuing_count, self._summed_triples)
        for action in range(data.n_actions):
            self._gram[action] += self._sum_over_pairs(action, pair_gain)
            self._next_gram[action] += self._sum_over_triples(action, triple_gain)
        self._summed_pairs = data.pair_count.copy()
        self._summed_triples = data.continuing_count

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """Weights of the action values; rewards summed per pair, policy at the distinct states."""
        n_actions, rank = self.data.n_actions, self.rank
        system = np.empty((n_actions, rank, n_actions, rank))
        for action in range(n_actions):
            system[action] = -gamma * self._onward_blocks(action, policy)
            system[action, :, action] += self._ridge_system(action, regularization)
        weights = solve(
            system.reshape(n_actions * rank, n_actions * rank),
            self._project(rewards).ravel(),
            overwrite_a=True,
            check_finite=False,
        )
        return weights.reshape(n_actions, rank).T

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """Weights of the kernel ridge regression on targets summed per pair."""
        columns = [
            solve(self._ridge_system(action, regularization), projected, assume_a="pos")
            for action, projected in enumerate(self._project(targets))
        ]
        return np.stack(columns, axis=1)

    def at_states(self, weights: NDArray) -> NDArray:
        return self._features.view @ weights

    def coefficients(self, weights: NDArray) -> NDArray:
        """The weights as coefficients over the distinct states, zero but at the pivots."""
        coefficients = np.zeros((len(self.data.index), self.data.n_actions))
        coefficients[self.dictionary.pivot_numbers] = self.dictionary.coefficients(weights)
        return coefficients

    def _extend_features(self) -> None:
        states = self.data.index.states
        known = self._features.view
        new_rows = self.dictionary.grow(states[len(known) :])
        new_columns = self.dictionary.new_features(states[: len(known)], known)
        self._features.grow(new_columns, new_rows)

    def _widen_sums(self) -> None:
        """Give the sums over past data their rows and columns for new features."""
        old_rank = self._gram.shape[1]
        if old_rank == self.rank:
            return
        old, new, both = slice(old_rank), slice(old_rank, None), slice(None)
        shape = (self.data.n_actions, self.rank, self.rank)
        gram, next_gram = np.zeros(shape), np.zeros(shape)
        gram[:, old, old], next_gram[:, old, old] = self._gram, self._next_gram
        for action in range(self.data.n_actions):
            gram[action, :, new] = self._sum_over_pairs(action, self._summed_pairs, both, new)
            gram[action, new, old] = gram[action, old, new].T
            past = self._summed_triples
            next_gram[action, :, new] = self._sum_over_triples(action, past, both, new)
            next_gram[action, new, old] = self._sum_over_triples(action, past, new, old)
        self._gram, self._next_gram = gram, next_gram

    def _sum_over_pairs(
        self, action: int, counts: NDArray, left: slice = slice(None), right: slice = slice(None)
    ) -> NDArray:
        data, phi = self.data, self._features.view
        pairs = np.flatnonzero((data.pair_action[: len(counts)] == action) & (counts != 0))
        states = data.pair_state[pairs]
        return sum_of_products(phi[:, left], states, phi[:, right], states, counts[pairs, None])[
            :, 0
        ]

    def _sum_over_triples(
        self, action: int, counts: NDArray, left: slice = slice(None), right: slice = slice(None)
    ) -> NDArray:
        phi = self._features.view
        states, next_states, triples = self._triples_of(action, counts)
        weights = counts[triples, None]
        return sum_of_products(phi[:, left], states, phi[:, right], next_states, weights)[:, 0]

    def _onward_blocks(self, action: int, policy: NDArray) -> NDArray:
        """The blocks of Z'Z_pi in the row of one action, (rank, actions, rank).

        Probabilities sum to one, so the blocks sum to the policy-free product: the last one is
        what the others leave of it.
        """
        phi, counts = self._features.view, self._summed_triples
        states, next_states, triples = self._triples_of(action, counts)
        weights = counts[triples, None] * policy[next_states, :-1]
        blocks = np.empty((self.rank, self.data.n_actions, self.rank))
        blocks[:, :-1] = sum_of_products(phi, states, phi, next_states, weights)
        blocks[:, -1] = self._next_gram[action] - blocks[:, :-1].sum(axis=1)
        return blocks

    def _triples_of(self, action: int, counts: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """States and next states of an action's triples that count, and their numbers."""
        data = self.data
        actions = data.pair_action[data.triple_pair[: len(counts)]]
        triples = np.flatnonzero((actions == action) & (counts != 0))
        return data.pair_state[data.triple_pair[triples]], data.triple_next[triples], triples

    def _project(self, targets: NDArray) -> NDArray:
        """Z'y for targets summed per pair, (actions, rank)."""
        data, phi = self.data, self._features.view
        by_action = np.zeros((data.n_actions, len(phi)))
        by_action[data.pair_action, data.pair_state] = targets
        return by_action @ phi

    def _ridge_system(self, action: int, regularization: float) -> NDArray:
        return self._gram[action] + self.data.size * regularization * np.eye(self.rank)


def sum_of_products(
    left: NDArray, left_rows: NDArray, right: NDArray, right_rows: NDArray, weights: NDArray
) -> NDArray:
    """The sum over t of left[l_t] times (weights[t] x right[r_t]), as (left, weights, right)."""
    shape = (left.shape[1], weights.shape[1], right.shape[1])
    total = np.zeros((shape[0], shape[1] * shape[2]))
    for start in range(0, len(weights), _ROWS):
        rows = slice(start, start + _ROWS)
        weighted = weights[rows, :, None] * right[right_rows[rows], None, :]
        total += left[left_rows[rows]].T @ weighted.reshape(len(weighted), -1)
    return total.reshape(shape)


class FeatureTable:
    """Features of the distinct states, growing by columns (pivots) and by rows (states)."""

    def __init__(self) -> None:
        self._buffer = np.empty((0, 0))
        self._shape = (0, 0)

    @property
    def view(self) -> NDArray:
        return self._buffer[: self._shape[0], : self._shape[1]]

    def grow(self, columns: NDArray, rows: NDArray) -> None:
        """Append columns to the rows held, then whole rows."""
        n_old, old_rank = self._shape
        shape = (n_old + len(rows), rows.shape[1])
        if n_old == 0:
            self._buffer = rows
        elif np.greater(shape, self._buffer.shape).any():
            grown = np.empty(np.maximum(shape, np.array(self._buffer.shape) * 5 // 4))
            grown[:n_old, :old_rank] = self.view
            self._buffer = grown
        self._buffer[:n_old, old_rank : shape[1]] = columns
        self._buffer[n_old : shape[0], : shape[1]] = rows
        self._shape = shape


def _difference(counts: NDArray, previous: NDArray) -> NDArray:
    gained = counts.copy()
    gained[: len(previous)] -= previous
    return gained
