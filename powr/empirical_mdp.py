"""The exact solve of Prop. 3 for the Dirac kernel: the empirical MDP, shrunk by n lambda.

A pair seen N times with summed reward R and next-state counts C has

    q(x, a) = (R + gamma sum C(x') v(x')) / (N + n lambda),   v(x) = sum pi(a|x) q(x, a),

and a pair never seen has q = 0. The unknowns are the values v, one a state, in a sparse system.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from powr.transitions import Transitions

# Up to this many states LAPACK beats a sparse factorisation with its fixed costs.
_DENSE_STATES = 64


class EmpiricalMDP:
    """Weights are the action values of the distinct states."""

    def __init__(self, data: Transitions, regularization: float):
        self.data = data
        self.regularization = regularization

    @property
    def rank(self) -> int:
        return len(self.data.index)

    def update(self) -> None:
        data, n_states = self.data, len(self.data.index)
        self._row_of_pair = data.pair_state * data.n_actions + data.pair_action
        self._shrunk_count = data.pair_count + data.size * self.regularization
        frequency = data.continuing_count / self._shrunk_count[data.triple_pair]
        next_means = csr_array(
            (frequency, (self._row_of_pair[data.triple_pair], data.triple_next)),
            shape=(n_states * data.n_actions, n_states),
        )
        bellman = DenseBellman if n_states <= _DENSE_STATES else SparseBellman
        self._bellman = bellman(next_means, data.n_actions)

    def solve(self, rewards: NDArray, policy: NDArray, gamma: float) -> NDArray:
        """The action values; rewards summed a pair, policy at the distinct states."""
        mean_rewards = self.regress(rewards)
        state_rewards = np.einsum("sa,sa->s", policy, mean_rewards)
        values = self._bellman.values(policy, state_rewards, gamma)
        onward = self._bellman.next_means @ values
        return mean_rewards + gamma * onward.reshape(mean_rewards.shape)

    def regress(self, targets: NDArray) -> NDArray:
        """The shrunk means of targets summed a pair, zero where a pair was never seen."""
        table = np.zeros((len(self.data.index), self.data.n_actions))
        table.ravel()[self._row_of_pair] = targets / self._shrunk_count
        return table

    def at_states(self, weights: NDArray) -> NDArray:
        return weights

    def coefficients(self, weights: NDArray) -> NDArray:
        return weights


class DenseBellman:
    """Values of few states: v = (I - gamma P T)^-1 r by LAPACK."""

    def __init__(self, next_means: csr_array, n_actions: int):
        self.next_means = next_means.toarray()
        self._n_actions = n_actions

    def values(self, policy: NDArray, rewards: NDArray, gamma: float) -> NDArray:
        n_states = len(rewards)
        by_state = self.next_means.reshape(n_states, self._n_actions, n_states)
        onward = np.matmul(policy[:, None, :], by_state)[:, 0]
        return np.linalg.solve(np.eye(n_states) - gamma * onward, rewards)


class SparseBellman:
    """Values of many states: v = (I - gamma P T)^-1 r by a sparse factorisation.

    The pattern of the matrix does not depend on the policy and is laid out once.
    """

    def __init__(self, next_means: csr_array, n_actions: int):
        self.next_means = next_means
        n_states = next_means.shape[1]
        entries = next_means.tocoo()
        self._pair, self._mean = entries.row, entries.data
        diagonal = np.arange(n_states)
        column_major = np.concatenate(
            [diagonal * (n_states + 1), entries.col * n_states + entries.row // n_actions]
        )
        places, self._place = np.unique(column_major, return_inverse=True)
        self._rows = places % n_states
        self._column_starts = np.searchsorted(places, np.arange(n_states + 1) * n_states)

    def values(self, policy: NDArray, rewards: NDArray, gamma: float) -> NDArray:
        n_states = len(rewards)
        onward = -gamma * policy.ravel()[self._pair] * self._mean
        entries = np.bincount(self._place, np.concatenate([np.ones(n_states), onward]))
        system = csc_array((entries, self._rows, self._column_starts), shape=(n_states, n_states))
        return splu(system).solve(rewards)
