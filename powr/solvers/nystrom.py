"""Nystrom: the solve of Prop. 3 on all data, in the span of a dictionary of states.

With features phi from a pivoted Cholesky of the state kernel, q(x, a) = phi(x).w_a, and

    (Z'Z + n lambda - gamma Z'Z_pi) w = Z'y,

where row i of Z is phi(x_i) in the block of action a_i, and row i of Z_pi is (1 - d_i) phi(x'_i)
weighted by pi(.|x'_i) over the blocks: ridge LSTD-Q in the kernel's own space.

Forming this matrix costs n m^2 |A|, a product with it only n m |A|. From one policy or epoch to the
next it changes little. So it is formed and factored only occasionally, in single precision, and
these factors precondition GMRES, which needs a few products. The dictionary of pivots D, with
L L' = k(D, D) and phi(x) = L^-1 k(D, x), only grows: a new pivot adds a last feature and leaves the
others as they were, so weights over features stay valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, gmres

from powr.data import Counts
from powr.kernels import Kernel, diagonal, gram_matrix

# Rows gathered for one product: few enough to stay in cache, enough for BLAS to run at full speed.
_ROWS = 1024

# Entries of the table of features that is kept, half a gigabyte; a larger one is computed in parts
# whenever it is needed.
LARGEST_TABLE = 2**26

# The relative error of the weights, and the least share of it that one round of GMRES leaves, which
# single precision bounds.
_ACCURACY = 1e-8
_REDUCTION = 1e-5

# If a round of this many products leaves more than this share of the error, forming and factoring
# the matrix again is cheaper.
_MOST_PRODUCTS = 14
_SLOW = 0.3

# Limits within which the factors still precondition well: growth of the data, and change of the
# probabilities, summed over actions and averaged over states. Beyond them it is cheaper to factor
# again.
_GROWTH = 1.06
_CHANGE = 0.06

# States among which one round looks for pivots: enough to choose well, and few enough that the
# vector-by-vector updates of the choice stay in cache.
_CANDIDATES = 2048

# States whose features are computed at once, to bound the memory.
PART = 8192

Precision = Any  # np.float32 or np.float64


class NystromModel:
    """Rank-many unknowns per action; weights over the features are (rank, actions)."""

    def __init__(self, kernel: Kernel, data: Counts, tolerance: float, max_rank: int):
        self.kernel = kernel
        self.data = data
        self.tolerance = tolerance
        self.max_rank = max_rank
        self._choose_dictionary()

    def _choose_dictionary(self) -> None:
        """Start an empty dictionary, to be filled from all current states."""
        data = self.data
        self.dictionary = Dictionary(self.kernel, data.index.shape, self.tolerance, self.max_rank)
        self._n_states_at_choice = len(data.index)
        self._tables: dict[Precision, FeatureTable] = {
            precision: FeatureTable(precision) for precision in (np.float32, np.float64)
        }
        self.factors: Factors | None = None

    @property
    def rank(self) -> int:
        return self.dictionary.rank

    def update(self) -> None:
        """Take in new data.

        A full dictionary cannot cover new regions, so its pivots are chosen again whenever the
        number of states has grown by half, and also when it has lost its accuracy.
        """
        data, n_states = self.data, len(self.data.index)
        self._last_rewards: NDArray | None = None
        self._ridge_factors: tuple[float, list[tuple[NDArray, bool]]] | None = None
        self._pair_counts = self._by_state(data.pair_count)
        pairs = data.triple_pair
        rows = data.pair_action[pairs] * n_states + data.pair_state[pairs]
        # From values of the next states to their sums over the transitions of (action, state).
        self._next_counts = csr_array(
            (data.continuing_count, (rows, data.triple_next)),
            shape=(data.n_actions * n_states, n_states),
        )
        if self.rank == self.max_rank and n_states > 1.5 * self._n_states_at_choice:
            self._choose_dictionary()
        self._extend_features()
        if not self.dictionary.is_accurate and self._n_states_at_choice < n_states:
            self._choose_dictionary()
            self._extend_features()

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        Zy = self._projected(rewards)
        size = np.abs(Zy).max(initial=0.0) or 1.0
        Zy = Zy / size  # rewards may be of any size, numbers in single precision may not
        ridge = self.data.size * regularization
        if self._tables:  # else products would compute the features again and again
            w = None
            if self.factors is not None and self.factors.are_near(policy, self.data.size):
                w = self._solve_by_products(self.factors, Zy, policy, gamma, ridge)
            if w is None:
                system = self._system(policy, gamma, ridge, np.float32)
                self.factors = Factors(system, policy, self.data.size)
                w = self._solve_by_products(self.factors, Zy, policy, gamma, ridge)
            if w is not None:
                return size * w
        system = self._system(policy, gamma, ridge, np.float64)
        return size * Factors(system, policy, self.data.size).solve(Zy, ridge)

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        if self._ridge_factors is None or self._ridge_factors[0] != regularization:
            self._ridge_factors = regularization, self._factor_ridge(regularization)
        projected = self._project(self._by_state(targets))
        pairs = zip(self._ridge_factors[1], projected.T, strict=True)
        return np.stack([cho_solve(factor, column) for factor, column in pairs], axis=1)

    def _factor_ridge(self, regularization: float) -> list[tuple[NDArray, bool]]:
        """Cholesky factors of Z'Z + n lambda, a block per action."""
        ridge = self.data.size * regularization * np.eye(self.rank)
        grams = np.zeros((self.data.n_actions, self.rank, self.rank))
        for rows in parts(len(self.data.index)):
            phi = self._features_at(np.arange(rows.start, rows.stop), np.float64)
            for gram, counts in zip(grams, self._pair_counts[rows].T, strict=True):
                gram += phi.T @ (counts[:, None] * phi)
        return [cho_factor(gram + ridge) for gram in grams]

    def at_states(self, weights: NDArray) -> NDArray:
        if self._tables:
            return self._phi @ weights
        coefficients = self.dictionary.coefficients(weights)
        return np.concatenate([gram @ coefficients for _, gram in self._grams()])

    def coefficients(self, weights: NDArray) -> NDArray:
        """The weights as coefficients over the distinct states, zero except at the pivots."""
        coefficients = np.zeros((len(self.data.index), self.data.n_actions))
        coefficients[self.dictionary.pivot_numbers] = self.dictionary.coefficients(weights)
        return coefficients

    # -- the system -------------------------------------------------------------------------------

    def _solve_by_products(
        self, factors: Factors, Zy: NDArray, policy: NDArray, gamma: float, ridge: float
    ) -> NDArray | None:
        """The weights by preconditioned GMRES from the last ones; None if that takes too long.

        Rounds of GMRES correct the weights by residuals in double precision, so that factors and
        products in single precision do not limit the accuracy.
        """

        def times(w: NDArray, precision: Precision) -> NDArray:
            """(Z'Z + n lambda - gamma Z'Z_pi) w in O(n m |A|)."""
            phi, w = self._tables[precision].view, w.reshape(Zy.shape)
            q = phi @ w.astype(precision)
            next_values = self._next_counts @ (policy * q).sum(axis=1)
            residual = self._pair_counts * q - gamma * next_values.reshape(-1, len(q)).T
            return phi.T @ residual.astype(precision) + ridge * w

        operator = LinearOperator(
            (Zy.size, Zy.size),
            lambda w: factors.solve(times(w, np.float32), ridge).ravel(),
            dtype=float,
        )
        w = np.zeros_like(Zy)
        w[: len(factors.last)] = factors.last
        size = np.inf
        while True:
            residual = Zy - times(w, np.float64) if w.any() else Zy
            error = factors.solve(residual, ridge)
            size, before = float(np.linalg.norm(error)), size
            allowed = _ACCURACY * float(np.linalg.norm(w + error))
            # GMRES's own estimate of the error is one in single precision.
            if size <= allowed:
                factors.last = w
                return w
            if not size <= _SLOW * before:  # NaN included
                return None
            step, _ = gmres(
                operator,
                error.ravel(),
                rtol=max(0.1 * allowed / size, _REDUCTION),
                restart=_MOST_PRODUCTS,
                maxiter=1,
            )
            w = w + step.reshape(Zy.shape)

    def _system(self, policy: NDArray, gamma: float, ridge: float, precision: Precision) -> NDArray:
        """Z'Z + n lambda - gamma Z'Z_pi, (actions, rank, actions, rank)."""
        data, n_actions, rank = self.data, self.data.n_actions, self.rank
        system: NDArray = np.zeros((n_actions, rank, n_actions, rank), precision)
        for start in range(0, len(data.triple_pair), _ROWS * n_actions):
            rows = slice(start, start + _ROWS * n_actions)
            pairs, next_states = data.triple_pair[rows], data.triple_next[rows]
            counts = data.triple_count[rows, None]
            going_on = np.where(data.triple_terminated[rows, None], 0.0, counts)
            weights = (-gamma * going_on * policy[next_states]).astype(precision)
            counts = counts.astype(precision)
            numbers = np.concatenate([data.pair_state[pairs], next_states])
            phi, phi_next = np.split(self._features_at(numbers, precision), 2)
            for action in range(n_actions):
                taken = data.pair_action[pairs] == action
                right = weights[taken, :, None] * phi_next[taken, None, :]
                right[:, action] += counts[taken] * phi[taken]
                right = right.reshape(len(right), n_actions * rank)  # where none was taken, too
                system[action] += (phi[taken].T @ right).reshape(rank, n_actions, rank)
        for action in range(n_actions):
            system[action, :, action][np.diag_indices(rank)] += precision(ridge)
        return system

    def _projected(self, rewards: NDArray) -> NDArray:
        """Z'y, kept for the next policy."""
        if self._last_rewards is None or not np.array_equal(rewards, self._last_rewards):
            self._last_rewards = rewards.copy()
            self._Zy = self._project(self._by_state(rewards))
        return self._Zy

    def _by_state(self, targets: NDArray) -> NDArray:
        """Targets summed per pair as a (states, actions) table."""
        table = np.zeros((len(self.data.index), self.data.n_actions))
        table[self.data.pair_state, self.data.pair_action] = targets
        return table

    def _project(self, table: NDArray) -> NDArray:
        """Z'y for sums over the transitions of each (state, action): (rank, actions)."""
        if self._tables:
            return self._phi.T @ table
        total = sum(gram.T @ table[rows] for rows, gram in self._grams())
        return solve_triangular(self.dictionary.cholesky, total, lower=True)

    # -- features ---------------------------------------------------------------------------------

    @property
    def _phi(self) -> NDArray:
        """phi at the distinct states, (states, rank)."""
        return self._tables[np.float64].view

    def _extend_features(self) -> None:
        states, old_rank = self.data.index.states, self.rank
        n_old = self.dictionary.n_offered
        self.dictionary.grow(states[n_old:])
        if not self._tables or len(states) * self.rank > LARGEST_TABLE:
            self._tables, self.factors = {}, None
            return
        for table in self._tables.values():
            table.grow(len(states), self.rank)
        phi = self._phi
        for rows in parts(n_old if self.rank > old_rank else 0):
            known = phi[rows, :old_rank]
            phi[rows, old_rank:] = self.dictionary.new_features(states[rows], known)
        for rows in parts(len(states), start=n_old):
            phi[rows] = self.dictionary.features(states[rows])
        single = self._tables[np.float32].view
        single[:n_old, old_rank:], single[n_old:] = phi[:n_old, old_rank:], phi[n_old:]
        if self.factors is not None and self.rank > old_rank:
            self.factors.grow((phi[:, old_rank:] ** 2).T @ self._pair_counts)

    def _grams(self) -> Iterator[tuple[slice, NDArray]]:
        """The kernel between all distinct states and the pivots, in parts of some rows."""
        states = self.data.index.states
        for rows in parts(len(states)):
            yield rows, gram_matrix(self.kernel, states[rows], self.dictionary.pivots)

    def _features_at(self, numbers: NDArray, precision: Precision) -> NDArray:
        """phi at the states of these numbers, (n, rank)."""
        if self._tables:
            return self._tables[precision].view[numbers]
        distinct, places = np.unique(numbers, return_inverse=True)
        return self.dictionary.features(self.data.index.states[distinct])[places]


class Factors:
    """LU factors of a system, (actions, rank, actions, rank), for weights of (rank, actions).

    Attributes
    ----------
    last : (rank, actions)
        The last weights that were found with these factors.
    """

    def __init__(self, system: NDArray, policy: NDArray, n_transitions: int):
        self._n_actions, self._rank = system.shape[:2]
        size = self._n_actions * self._rank
        self._lu = lu_factor(system.reshape(size, size), overwrite_a=True, check_finite=False)
        self._of_new_features = np.ones((0, self._n_actions))
        self._policy, self._n_transitions = policy, n_transitions
        self.last = np.zeros((0, self._n_actions))

    def are_near(self, policy: NDArray, n_transitions: int) -> bool:
        """Whether the system for this policy and these data is close to the factored one."""
        change = np.abs(policy[: len(self._policy)] - self._policy).sum(axis=1).mean()
        return bool(change <= _CHANGE and n_transitions <= _GROWTH * self._n_transitions)

    def grow(self, diagonal: NDArray) -> None:
        """Precondition more features than were factored, by their entries of Z'Z's diagonal."""
        self._of_new_features = np.vstack([self._of_new_features, diagonal])

    def solve(self, right: NDArray, ridge: float) -> NDArray:
        known = right[: self._rank].T.ravel().astype(self._lu[0].dtype)
        known = lu_solve(self._lu, known, check_finite=False).reshape(self._n_actions, -1)
        return np.vstack([known.T, right[self._rank :] / (self._of_new_features + ridge)])


class Dictionary:
    """A growing set of pivots, chosen where the features still miss most of the kernel.

    `tolerance` is the largest k(x, x) - phi(x).phi(x) left at any state offered, as a share of the
    largest k(x, x) among them, unless `max_rank` pivots are reached first. `pivots` are states,
    `pivot_numbers` their positions among all the states ever offered. Pivots that come from many
    small portions of states lie close together: `is_accurate` turns False where L has become so
    ill-conditioned that features exceed the kernel.
    """

    def __init__(
        self, kernel: Kernel, state_shape: tuple[int, ...], tolerance: float, max_rank: int
    ):
        self.kernel = kernel
        self.tolerance = max(tolerance, 10 * max_rank * np.finfo(float).eps)
        self.max_rank = max_rank
        self.pivots = np.empty((0, *state_shape), float if state_shape else int)
        self.pivot_numbers = np.empty(0, int)
        self.n_offered = 0
        self._largest = 0.0
        self.is_accurate = True
        self.cholesky = np.empty((0, 0))

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def features(self, states: NDArray) -> NDArray:
        """phi at the states, (n, rank)."""
        return _divide_(gram_matrix(self.kernel, states, self.pivots), self.cholesky)

    def coefficients(self, weights: NDArray) -> NDArray:
        """The c with k(x, D) c = phi(x).weights for every x."""
        return solve_triangular(self.cholesky, weights, lower=True, trans="T")

    def grow(self, states: NDArray) -> None:
        """Add pivots from the states until the tolerance holds on them."""
        whole = diagonal(self.kernel, states)
        self._largest = max(self._largest, whole.max(initial=0.0))
        allowed = self.tolerance * self._largest
        while self.rank < self.max_rank:
            missing = whole - self._squares(states)
            # Far from the pivots an ill-conditioned L gives features of any size.
            self.is_accurate &= bool(missing.min(initial=0.0) > -allowed)
            above = np.flatnonzero(missing > allowed)
            if len(above) == 0:
                break
            candidates = above[:: -(-len(above) // _CANDIDATES)]
            features = self.features(states[candidates])
            chosen, corner = self._choose(states[candidates], features, missing[candidates])
            pivots = candidates[chosen]
            self.pivot_numbers = np.concatenate([self.pivot_numbers, self.n_offered + pivots])
            self._append(states[pivots], features[chosen], corner)
        self.n_offered += len(states)

    def _squares(self, states: NDArray) -> NDArray:
        """phi(x).phi(x) at each state."""
        squares = np.zeros(len(states))
        for rows in parts(len(states) if self.rank else 0):
            phi = self.features(states[rows])
            squares[rows] = np.einsum("ij,ij->i", phi, phi)
        return squares

    def new_features(self, states: NDArray, features: NDArray) -> NDArray:
        """The features that the states lack, given those of an earlier, smaller dictionary."""
        known = features.shape[1]
        gram = gram_matrix(self.kernel, states, self.pivots[known:])
        gram -= features @ self.cholesky[known:, :known].T
        return _divide_(gram, self.cholesky[known:, known:])

    def _choose(
        self, states: NDArray, features: NDArray, missing: NDArray
    ) -> tuple[list[int], NDArray]:
        """Greedy pivots, each the candidate with the largest residual, and their part of L."""
        room = min(self.max_rank - self.rank, len(states))
        rows = np.empty((room, len(states)))
        chosen: list[int] = []
        for step in range(room):
            pivot = int(np.argmax(missing))
            if missing[pivot] <= self.tolerance * self._largest:
                break
            row = gram_matrix(self.kernel, states[pivot : pivot + 1], states)[0]
            row -= features @ features[pivot]
            row -= rows[:step, pivot] @ rows[:step]
            row /= np.sqrt(missing[pivot])
            rows[step] = row
            missing -= row**2
            missing[pivot] = 0.0
            chosen.append(pivot)
        return chosen, np.tril(rows[: len(chosen), chosen].T)

    def _append(self, pivots: NDArray, features: NDArray, corner: NDArray) -> None:
        old, new = self.rank, len(pivots)
        grown = np.zeros((old + new, old + new))
        grown[:old, :old] = self.cholesky
        grown[old:, :old] = features
        grown[old:, old:] = corner
        self.cholesky = grown
        self.pivots = np.concatenate([self.pivots, pivots])


def _divide_(gram: NDArray, cholesky: NDArray) -> NDArray:
    """gram L^-T in place, row by row in memory."""
    return solve_triangular(cholesky, gram.T, lower=True, overwrite_b=True, check_finite=False).T


class FeatureTable:
    """Features of the distinct states, growing by columns (pivots) and by rows (states)."""

    def __init__(self, precision: Precision):
        self._buffer: NDArray = np.empty((0, 0), precision)
        self._shape = (0, 0)

    @property
    def view(self) -> NDArray:
        return self._buffer[: self._shape[0], : self._shape[1]]

    def grow(self, n_rows: int, n_columns: int) -> None:
        """Make room; what is held stays, what is new is to be filled in."""
        old, held = self.view, self._buffer.shape
        self._shape = (n_rows, n_columns)
        if n_rows <= held[0] and n_columns <= held[1]:
            return
        # Only what is too small grows: by a quarter, so that few rows are copied often.
        room = [
            size if size <= has else (size * 5 // 4 if has else size)
            for size, has in zip(self._shape, held, strict=True)
        ]
        self._buffer = np.empty(np.maximum(room, held), self._buffer.dtype)
        self._buffer[: old.shape[0], : old.shape[1]] = old


def parts(stop: int, start: int = 0) -> Iterator[slice]:
    """Rows in portions that bound the memory."""
    for first in range(start, stop, PART):
        yield slice(first, min(first + PART, stop))
