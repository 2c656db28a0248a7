"""Algorithm 1 (POWR) exactly as printed: one-hot E, explicit inverses, softmax, loop.

The judge of everything else: tests compare the fast code with it. Kernels are functions of two
states, and matrices are filled entry by entry.

One extension: `terminated`. The printed algorithm knows no end of an episode; here row i of M
is multiplied by 1 - d_i, so that nothing is expected after a terminated transition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

PairKernel = Callable[[Sequence[float], Sequence[float]], float]
Bandwidth = float | Sequence[float]


@dataclass(frozen=True)
class Solution:
    policy: Callable[[Sequence], np.ndarray]  # pi_T: m states -> (m, |A|)
    weights: list[np.ndarray]  # C_0 ... C_T, each (n, |A|)
    coefficients: list[np.ndarray]  # c of each iteration, (n,)


def algorithm1(
    states: Sequence,
    actions: Sequence[int],
    rewards: Sequence[float],
    next_states: Sequence,
    *,
    n_actions: int,
    kernel: PairKernel,
    gamma: float,
    step_size: float,
    regularization: float,
    iterations: int,
    terminated: Sequence[bool] | None = None,
) -> Solution:
    n = len(states)
    d = np.zeros(n) if terminated is None else np.asarray(terminated, dtype=float)
    y = np.asarray(rewards, dtype=float)

    # World model learning
    E = np.zeros((n, n_actions))
    for i in range(n):
        E[i, actions[i]] = 1
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            same_action = 1 if actions[i] == actions[j] else 0
            same_sample = 1 if i == j else 0
            K[i, j] = kernel(states[i], states[j]) * same_action + n * regularization * same_sample
    H = gram(kernel, next_states, states)
    K_inverse = np.linalg.inv(K)
    b = K_inverse @ y

    # Policy mirror descent
    C = [np.zeros((n, n_actions))]
    cs = []
    for t in range(iterations):
        pi = softmax(step_size * H @ C[t])
        M = H * (pi @ E.T)
        M = (1 - d)[:, None] * M
        c = np.linalg.inv(np.eye(n) - gamma * K_inverse @ M) @ b
        C.append(C[t] + np.diag(c) @ E)
        cs.append(c)

    def policy(xs: Sequence) -> np.ndarray:
        return softmax(step_size * gram(kernel, xs, states) @ C[-1])

    return Solution(policy, C, cs)


def softmax(exponents: np.ndarray) -> np.ndarray:
    weights = np.exp(exponents)
    return weights / weights.sum(axis=1, keepdims=True)


def gram(kernel: PairKernel, xs: Sequence, ys: Sequence) -> np.ndarray:
    matrix = np.empty((len(xs), len(ys)))
    for i in range(len(xs)):
        for j in range(len(ys)):
            matrix[i, j] = kernel(xs[i], ys[j])
    return matrix


def dirac() -> PairKernel:
    return lambda x, y: 1.0 if np.array_equal(x, y) else 0.0


def gaussian(bandwidth: Bandwidth) -> PairKernel:
    """exp(-||x - y||^2 / (2 sigma^2)), each dimension measured in units of its bandwidth."""
    return lambda x, y: math.exp(-(scaled_distance(x, y, bandwidth) ** 2) / 2)


def exponential(bandwidth: Bandwidth) -> PairKernel:
    """exp(-||x - y|| / sigma), each dimension measured in units of its bandwidth."""
    return lambda x, y: math.exp(-scaled_distance(x, y, bandwidth))


def scaled_distance(x: Sequence[float], y: Sequence[float], bandwidth: Bandwidth) -> float:
    return float(np.linalg.norm((np.asarray(x, float) - np.asarray(y, float)) / bandwidth))
