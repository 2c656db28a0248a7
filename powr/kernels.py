"""State kernels k(x, x') = <phi(x), phi(x')>, the choice of H in Prop. 4 (separable spaces).

`Exponential` is the reproducing kernel of a Sobolev space, the family for which Thm. 5 shows that
every policy of mirror descent stays representable. `Dirac` makes H the space of all functions on a
finite set: the tabular case.

A kernel maps states of shape (n, d) and (m, d) to their (n, m) Gram matrix; integer states of a
finite space have shape (n,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

# Entries of a Gram matrix worth holding, half a gigabyte; a larger one is made in parts.
LARGEST_GRAM = 2**26


class Dirac:
    """k(x, x') = 1 where x equals x', else 0.

    >>> Dirac()([0, 1], [1, 2])
    array([[0., 0.],
           [1., 0.]])
    """

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray:
        x, y = np.asarray(x), np.asarray(y)
        equal = x[:, None] == y[None, :]
        return (equal if x.ndim == 1 else equal.all(axis=2)).astype(float)

    def __repr__(self) -> str:
        return "Dirac()"


class _Stationary:
    """A kernel of the distance ||(x - x') / bandwidth||."""

    _metric: str

    def __init__(self, bandwidth: ArrayLike):
        sigma = np.asarray(bandwidth, dtype=float)
        if sigma.ndim > 1 or sigma.size == 0:
            raise ValueError(
                f"bandwidth must be a number or one number per dimension, "
                f"got an array of shape {sigma.shape}"
            )
        if not (np.isfinite(sigma).all() and (sigma > 0).all()):
            raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}")
        self.bandwidth = sigma

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray:
        gram = cdist(self._scale(x), self._scale(y), self._metric)
        return self._of_distance_(gram)

    def _scale(self, x: ArrayLike) -> NDArray:
        x = np.asarray(x, dtype=float)
        if x.ndim == 1:
            x = x[:, None]
        if self.bandwidth.ndim == 1 and self.bandwidth.size != x.shape[1]:
            raise ValueError(
                f"{self!r} has {self.bandwidth.size} bandwidths, but states have "
                f"{x.shape[1]} dimensions: give one number, or one per dimension"
            )
        return x / self.bandwidth

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.bandwidth.tolist()})"


class Gaussian(_Stationary):
    """k(x, x') = exp(-||(x - x') / bandwidth||^2 / 2).

    >>> Gaussian(2.0)([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    """

    _metric = "sqeuclidean"

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        distance *= -0.5
        return np.exp(distance, out=distance)


class Exponential(_Stationary):
    """k(x, x') = exp(-||(x - x') / bandwidth||), the Sobolev kernel.

    >>> Exponential([1.0, 2.0])([[0.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.3679]])
    """

    _metric = "euclidean"

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        np.negative(distance, out=distance)
        return np.exp(distance, out=distance)


Kernel = Dirac | Gaussian | Exponential


def expansion(kernel: Kernel, x: NDArray, centers: NDArray, coefficients: NDArray) -> NDArray:
    """k(x, centers) C, in blocks of rows where the Gram matrix would be too large to hold."""
    rows = max(1, LARGEST_GRAM // max(1, len(centers)))
    blocks = range(0, max(1, len(x)), rows)
    return np.concatenate([kernel(x[i : i + rows], centers) @ coefficients for i in blocks])
