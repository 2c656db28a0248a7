"""The action values of Prop. 3 with three more digits than double precision has.

The judge where a system is so ill-conditioned that double precision could not tell an accurate
value from garbage. On a processor without 80-bit numbers `HAS_MORE_DIGITS` is false.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from powr.kernels import Dirac, Exponential, Gaussian, Kernel

HAS_MORE_DIGITS = np.finfo(np.longdouble).eps < np.finfo(float).eps


def action_values(
    states: ArrayLike,
    actions: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    terminated: ArrayLike,
    *,
    kernel: Kernel,
    n_actions: int,
    regularization: float,
    gamma: float,
) -> np.ndarray:
    """Those of the uniform policy: (K + n lambda - gamma M) c = y, one unknown per transition."""
    x, following = longer(states), longer(next_states)
    a, ended = np.asarray(actions), longer(terminated)
    n = len(x)
    among = gram(kernel, x, x)
    K = among * (a[:, None] == a) + n * longer(regularization) * np.eye(n)
    M = (1 - ended)[:, None] * gram(kernel, following, x) / n_actions
    c = solve(K - longer(gamma) * M, longer(rewards))
    return np.stack([among @ (c * (a == action)) for action in range(n_actions)], axis=1)


def longer(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, np.longdouble)


def gram(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    bandwidth = longer(1 if isinstance(kernel, Dirac) else kernel.bandwidth)
    squared = (((x[:, None] - y) / bandwidth) ** 2).sum(axis=2)
    if isinstance(kernel, Gaussian):
        return np.exp(-squared / 2)
    if isinstance(kernel, Exponential):
        return np.exp(-np.sqrt(squared))
    return longer(squared == 0)


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gaussian elimination with partial pivoting; LAPACK has no more than double precision."""
    rows = np.column_stack([matrix, right])
    n = len(rows)
    for i in range(n):
        pivot = i + np.argmax(np.abs(rows[i:, i]))
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i + 1 :] -= (rows[i + 1 :, i] / rows[i, i])[:, None] * rows[i]
    solution = np.zeros(n, np.longdouble)
    for i in reversed(range(n)):
        solution[i] = (rows[i, n] - rows[i, i + 1 : n] @ solution[i + 1 :]) / rows[i, i]
    return solution
