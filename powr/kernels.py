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

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from powr.data import StateIndex
from powr.validation import check_states

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


def check_kernel(kernel: object, state_shape: tuple[int, ...]) -> None:
    """Refuse what is not a kernel on such states; bandwidths that do not fit them included."""
    wanted = (
        f"kernel must be one of {', '.join(BUILT_IN)}, or map states of shape (n, d) and (m, d) to "
        f"their (n, m) Gram matrix (see powr.kernels), got {kernel!r}"
    )
    if isinstance(kernel, type) or not callable(kernel):
        raise TypeError(wanted)
    states: NDArray = np.arange(7)
    if state_shape != ():
        states = np.cos(np.arange(7 * state_shape[0])).reshape(7, -1)
    x, y = states[:2], states[2:]
    if type(kernel) in BUILT_IN.values():
        kernel(x, y)
        return
    try:
        gram, transposed = np.asarray(kernel(x, y), float), np.asarray(kernel(y, x), float)
    except Exception as error:  # a user's kernel may raise anything
        raise TypeError(f"{wanted}, which raised {type(error).__name__}: {error}") from error
    if gram.shape != (2, 5) or transposed.shape != (5, 2):
        raise TypeError(f"{wanted}, whose answer for 2 and 5 states has the shape {gram.shape}")
    if not np.isfinite(gram).all() or not np.allclose(gram, transposed.T):
        raise ValueError(f"{wanted}, which is not finite or not symmetric: {gram.tolist()}")


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


# -- functions of states --------------------------------------------------------------------------

# (n,) or (n, d) states to one number per action, (n, n_actions).
StateFunction = Callable[[ArrayLike], NDArray]


class KernelExpansion:
    """x -> k(x, centers) weights, from (n,) or (n, d) states to (n, n_actions)."""

    def __init__(self, kernel: Kernel, centers: NDArray, weights: NDArray):
        self.kernel = kernel
        self.centers = centers
        self.weights = weights

    def __call__(self, states: ArrayLike) -> NDArray:
        states = check_states(states, shape=self.centers.shape[1:])
        return expansion(self.kernel, states, self.centers, self.weights)


class Table:
    """The values of the first states of an index, 0 elsewhere.

    The index may grow: states numbered after the values were made have the value 0.
    """

    def __init__(self, index: StateIndex, values: NDArray):
        self.index = index
        self._rows = np.vstack([values, np.zeros(values.shape[1])])

    @property
    def values(self) -> NDArray:
        return self._rows[:-1]

    def __call__(self, states: ArrayLike) -> NDArray:
        states, unseen = check_states(states, shape=self.index.shape), len(self._rows) - 1
        return self._rows[np.minimum(self.index.find(states, missing=unseen), unseen)]


class Zero:
    """0 for every state and action: the exponent of the uniform policy."""

    def __init__(self, n_actions: int):
        self.n_actions = n_actions

    def __call__(self, states: ArrayLike) -> NDArray:
        return np.zeros((np.asarray(states).shape[0], self.n_actions))


def expand(kernel: Kernel, index: StateIndex, coefficients: NDArray) -> KernelExpansion | Table:
    """The function k(x, states) C, for coefficients over the first states of an index."""
    if isinstance(kernel, Dirac):
        return Table(index, coefficients)
    centers = coefficients.any(axis=1)
    states = index.states[: len(coefficients)]
    return KernelExpansion(kernel, states[centers], coefficients[centers])
