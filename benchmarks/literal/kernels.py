"""Each kernel as a function of two states, and its Gram matrix entry by entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy.special

PairKernel = Callable[[Sequence[float], Sequence[float]], float]


def dirac() -> PairKernel:
    return lambda x, y: 1.0 if np.array_equal(x, y) else 0.0


def gaussian(bandwidth: float | Sequence[float]) -> PairKernel:
    """exp(-||x - y||^2 / (2 sigma^2)), each dimension measured in units of its bandwidth."""
    return lambda x, y: math.exp(-(scaled_distance(x, y, bandwidth) ** 2) / 2)


def exponential(bandwidth: float | Sequence[float]) -> PairKernel:
    """exp(-||x - y|| / sigma), each dimension measured in units of its bandwidth."""
    return lambda x, y: math.exp(-scaled_distance(x, y, bandwidth))


def matern52(bandwidth: float | Sequence[float]) -> PairKernel:
    """The Matern kernel of smoothness 5/2, from its Bessel function."""
    return lambda x, y: matern(scaled_distance(x, y, bandwidth), 2.5)


def matern(distance: float, smoothness: float) -> float:
    """2^(1 - nu) / Gamma(nu) s^nu K_nu(s) with s = sqrt(2 nu) r, which tends to 1 at r = 0."""
    if distance == 0.0:
        return 1.0
    s = math.sqrt(2 * smoothness) * distance
    factor = 2 ** (1 - smoothness) / math.gamma(smoothness)
    return factor * s**smoothness * float(scipy.special.kv(smoothness, s))


def scaled_distance(
    x: Sequence[float], y: Sequence[float], bandwidth: float | Sequence[float]
) -> float:
    total = 0.0
    for i in range(len(x)):
        sigma = bandwidth if isinstance(bandwidth, int | float) else bandwidth[i]
        total += ((x[i] - y[i]) / sigma) ** 2
    return math.sqrt(total)


def gram(kernel: PairKernel, xs: Sequence, ys: Sequence) -> np.ndarray:
    matrix = np.empty((len(xs), len(ys)))
    for i in range(len(xs)):
        for j in range(len(ys)):
            matrix[i, j] = kernel(xs[i], ys[j])
    return matrix
