"""Features phi(x) with phi(x).phi(x') = k(x, x') from a pivoted Cholesky of the state kernel.

The dictionary D holds the pivots, L L' = k(D, D), and phi(x) = L^-1 k(D, x). It only grows: a new
pivot adds a last feature and leaves the others as they were, so weights over features stay valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from powr.kernels import Kernel, diagonal, gram_matrix

# States among which one round looks for pivots: enough to choose well, and few enough that the
# vector-by-vector updates of the choice stay in cache.
_CANDIDATES = 2048

# States whose features are computed at once, to bound the memory.
PART = 8192

Precision = Any  # np.float32 or np.float64


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
        self._n_offered = 0
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
            self.pivot_numbers = np.concatenate([self.pivot_numbers, self._n_offered + pivots])
            self._append(states[pivots], features[chosen], corner)
        self._n_offered += len(states)

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
