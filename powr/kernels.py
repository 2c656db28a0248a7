"""State kernels k(x, x') = <phi(x), phi(x')>, the choice of H in Prop. 4 (separable spaces).

`Exponential` is the reproducing kernel of a Sobolev space, the family for which Thm. 5 shows that
every policy of mirror descent stays representable. `Dirac` makes H the space of all functions on a
finite set: the tabular case.

A kernel maps states of shape (n, d) and (m, d) to their (n, m) Gram matrix; integer states of a
finite space have shape (n,). Anything callable that does so, is symmetric and positive definite,
can be used wherever a kernel is asked for:

>>> def linear(x, y):
...     return 1.0 + x @ y.T
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

# Largest Gram matrix to hold, in entries (half a gigabyte); a larger one is computed in blocks.
LARGEST_GRAM = 2**26

# Block size when k(x, x) is read off the diagonals of Gram matrices.
_DIAGONAL_BLOCK = 64


@runtime_checkable
class Kernel(Protocol):
    """What a state kernel must do; `diagonal(x)`, the k(x, x) of each state, is optional.

    Without it the diagonal is read off small Gram matrices. Kernels that are to be copied, pickled
    or compared should be objects of a class rather than functions made inside one.
    """

    def __call__(self, x: NDArray, y: NDArray, /) -> NDArray: ...


class _BuiltIn:
    """A kernel that is 1 on the diagonal; its name and bandwidth say all about it."""

    bandwidth: Any = None

    def diagonal(self, x: NDArray) -> NDArray:
        return np.ones(len(x))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.bandwidth is None else self.bandwidth.tolist()})"


class Dirac(_BuiltIn):
    """k(x, x') = 1 where x equals x', else 0.

    >>> Dirac()([0, 1], [1, 2])
    array([[0., 0.],
           [1., 0.]])
    """

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray:
        x, y = np.asarray(x), np.asarray(y)
        equal = x[:, None] == y[None, :]
        return (equal if x.ndim == 1 else equal.all(axis=2)).astype(float)


class Stationary(_BuiltIn):
    """A kernel of the distance ||(x - x') / bandwidth||."""

    _metric = "euclidean"

    def __init__(self, bandwidth: ArrayLike):
        sigma = np.array(bandwidth, dtype=float)
        if sigma.ndim > 1 or sigma.size == 0:
            raise ValueError(
                f"bandwidth must be a number or one number per dimension, "
                f"got an array of shape {sigma.shape}"
            )
        if not (np.isfinite(sigma).all() and (sigma > 0).all()):
            raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}")
        sigma.setflags(write=False)  # what was computed with it would not follow a change
        self.bandwidth = sigma

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray:
        gram = cdist(self.scaled(x), self.scaled(y), self._metric)
        return self._of_distance_(gram)

    def of_distances(self, distances: NDArray) -> NDArray:
        """k as a function of ||(x - x') / bandwidth||; may write to the distances."""
        return self._of_distance_(distances**2 if self._metric == "sqeuclidean" else distances)

    def scaled(self, x: ArrayLike) -> NDArray:
        """The states in units of the bandwidth, (n, d)."""
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


class Gaussian(Stationary):
    """k(x, x') = exp(-||(x - x') / bandwidth||^2 / 2).

    >>> Gaussian(2.0)([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    """

    _metric = "sqeuclidean"

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        distance *= -0.5
        return np.exp(distance, out=distance)


class Exponential(Stationary):
    """k(x, x') = exp(-||(x - x') / bandwidth||), the Sobolev kernel, or Matern 1/2.

    >>> Exponential([1.0, 2.0])([[0.0, 0.0]], [[0.0, 2.0]]).round(4)
    array([[0.3679]])
    """

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        np.negative(distance, out=distance)
        return np.exp(distance, out=distance)


class Abel(Stationary):
    """k(x, x') = exp(-sum_i |x_i - x'_i| / (sqrt(2) bandwidth_i)), an option in the authors' code.

    >>> Abel(1.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.2431]])
    """

    _metric = "cityblock"

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        distance /= -np.sqrt(2)
        return np.exp(distance, out=distance)


class Matern52(Stationary):
    """k(x, x') = (1 + s + s^2 / 3) exp(-s) with s = sqrt(5) ||(x - x') / bandwidth||.

    >>> Matern52(1.0)([[0.0]], [[1.0]]).round(4)
    array([[0.524]])
    """

    @staticmethod
    def _of_distance_(distance: NDArray) -> NDArray:
        distance *= np.sqrt(5)
        factor = 1.0 + distance + distance**2 / 3
        factor *= np.exp(np.negative(distance, out=distance), out=distance)
        return factor


BUILT_IN: dict[str, type[Any]] = {
    kernel.__name__: kernel for kernel in (Dirac, Exponential, Gaussian, Abel, Matern52)
}


def make_kernel(name: str, bandwidth: ArrayLike | None = None) -> Kernel:
    """The built-in kernel of this name; all but `Dirac` need a bandwidth."""
    if name not in BUILT_IN:
        raise ValueError(f"kernel {name!r} is not one of {', '.join(BUILT_IN)}")
    if (bandwidth is None) != (name == Dirac.__name__):
        needs = "has no bandwidth" if bandwidth is not None else "needs a bandwidth"
        raise ValueError(f"kernel {name} {needs}")
    return BUILT_IN[name]() if bandwidth is None else BUILT_IN[name](bandwidth)


def gram_matrix(kernel: Kernel, x: NDArray, y: NDArray) -> NDArray:
    """k(x, y) as floats, in an array that may be written to."""
    return np.require(kernel(x, y), float, "W")


def diagonal(kernel: Kernel, x: NDArray) -> NDArray:
    """The k(x, x) of each state."""
    if hasattr(kernel, "diagonal"):
        return kernel.diagonal(x)
    blocks = [x[i : i + _DIAGONAL_BLOCK] for i in range(0, max(1, len(x)), _DIAGONAL_BLOCK)]
    return np.concatenate([np.diag(kernel(block, block)) for block in blocks])


def expansion(kernel: Kernel, x: NDArray, centers: NDArray, coefficients: NDArray) -> NDArray:
    """k(x, centers) C, in blocks of rows where the Gram matrix would be too large to hold."""
    rows = max(1, LARGEST_GRAM // max(1, len(centers)))
    if len(x) <= rows:
        return kernel(x, centers) @ coefficients
    blocks = range(0, len(x), rows)
    return np.concatenate([kernel(x[i : i + rows], centers) @ coefficients for i in blocks])
