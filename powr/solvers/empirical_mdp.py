"""The exact solve of Prop. 3 for the Dirac kernel: the empirical MDP, shrunk by n lambda.

A pair seen N times with summed reward R and next-state counts C has

    q(x, a) = (R + gamma sum C(x') v(x')) / (N + n lambda),   v(x) = sum pi(a|x) q(x, a),

and a pair never seen has q = 0. The unknowns are the values v, one per state, in a sparse system.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgesv
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from powr.data import Counts

# Up to this many states LAPACK beats a sparse factorisation with its fixed costs.
_DENSE_STATES = 64


class EmpiricalMDP:
    """Weights are the action values of the distinct states.

    Tables are (states, actions) and lie action by action in memory, where sums over actions are
    fast. What depends only on the set of triples seen is laid out again when that set grows.
    """

    def __init__(self, data: Counts):
        self.data = data
        self._n_triples = 0

    @property
    def rank(self) -> int:
        return len(self.data.index)

    def update(self) -> None:
        if len(self.data.triple_pair) > self._n_triples:
            self._lay_out()

    def _lay_out(self) -> None:
        data, n_states = self.data, len(self.data.index)
        self._n_triples = len(data.triple_pair)
        self._cell_of_pair = data.pair_action * n_states + data.pair_state
        self._cell_of_triple = self._cell_of_pair[data.triple_pair]
        bellman = DenseBellman if n_states <= _DENSE_STATES else SparseBellman
        self._bellman = bellman(data.pair_state[data.triple_pair], data.triple_next, n_states)

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        mean_rewards, frequency = self._means(rewards, regularization)
        state_rewards = (policy * mean_rewards).sum(axis=1)
        probability = policy.T.ravel()[self._cell_of_triple] * frequency
        values = self._bellman.values(gamma * probability, state_rewards)
        return self._look_ahead(mean_rewards, frequency, values, gamma)

    def backup(
        self, rewards: NDArray, values: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """The action values of one step before these values of the distinct states."""
        mean_rewards, frequency = self._means(rewards, regularization)
        return self._look_ahead(mean_rewards, frequency, values, gamma)

    def _means(self, rewards: NDArray, regularization: float) -> tuple[NDArray, NDArray]:
        """The mean reward of each pair, and the relative frequency of each continuing triple."""
        count = self._shrunk_count(regularization)
        frequency = self.data.continuing_count / count[self.data.triple_pair]
        return self._table(self._cell_of_pair, rewards / count), frequency

    def _look_ahead(
        self, mean_rewards: NDArray, frequency: NDArray, values: NDArray, gamma: float
    ) -> NDArray:
        next_values = frequency * values[self.data.triple_next]
        return mean_rewards + gamma * self._table(self._cell_of_triple, next_values)

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """The shrunk means of targets summed per pair, zero where a pair was never seen."""
        return self._table(self._cell_of_pair, targets / self._shrunk_count(regularization))

    def _shrunk_count(self, regularization: float) -> NDArray:
        return self.data.pair_count + self.data.size * regularization

    def at_states(self, weights: NDArray) -> NDArray:
        return weights

    def coefficients(self, weights: NDArray) -> NDArray:
        return weights

    def _table(self, cells: NDArray, summands: NDArray) -> NDArray:
        shape = (self.data.n_actions, len(self.data.index))
        return np.bincount(cells, summands, shape[0] * shape[1]).reshape(shape).T


class DenseBellman:
    """The v of few states with v = r + A v, by LAPACK; A is the sum of entries at their places."""

    def __init__(self, rows: NDArray, columns: NDArray, n_states: int):
        self._places = rows * n_states + columns
        self._identity = np.eye(n_states)

    def values(self, entries: NDArray, rewards: NDArray) -> NDArray:
        identity = self._identity
        A = np.bincount(self._places, entries, identity.size).reshape(identity.shape)
        # numpy's checks of its arguments would take longer than the solve.
        _, _, values, _ = dgesv(identity - A, rewards)
        return values


class SparseBellman:
    """The v of many states with v = r + A v, by a sparse factorisation.

    The order of elimination that keeps the factors sparse is found once. The diagonal of I - A
    outweighs the rest of each row, so no pivots need be sought; and the factors stay so sparse that
    gathering columns into dense blocks would cost more than it saves.
    """

    def __init__(self, rows: NDArray, columns: NDArray, n_states: int):
        diagonal = np.arange(n_states)
        rows, columns = np.concatenate([diagonal, rows]), np.concatenate([diagonal, columns])
        dominant = np.where(rows == columns, len(rows), 1.0)
        self._position = splu(SparsePattern(rows, columns, n_states).matrix(dominant)).perm_c
        self._order = np.argsort(self._position)
        self._pattern = SparsePattern(self._position[rows], self._position[columns], n_states)

    def values(self, entries: NDArray, rewards: NDArray) -> NDArray:
        factors = splu(
            self._pattern.matrix(np.concatenate([np.ones(len(rewards)), -entries])),
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0,
            relax=1,
            panel_size=1,
            options={"Equil": False},
        )
        return factors.solve(rewards[self._order])[self._position]


class SparsePattern:
    """Where a square matrix has entries, worked out once for many matrices."""

    def __init__(self, rows: NDArray, columns: NDArray, size: int):
        places, self._place = np.unique(columns * size + rows, return_inverse=True)
        rows_in_columns = (places % size).astype(np.int32)
        column_starts = np.searchsorted(places, np.arange(size + 1) * size).astype(np.int32)
        nothing = np.zeros(len(places))
        self._zero = csc_array((nothing, rows_in_columns, column_starts), shape=(size, size))

    def matrix(self, entries: NDArray) -> csc_array:
        """The matrix with these entries, in the order of the rows and columns given at first."""
        matrix = copy(self._zero)  # shares its pattern, which scipy would check again
        matrix.data = np.bincount(self._place, entries)
        return matrix
