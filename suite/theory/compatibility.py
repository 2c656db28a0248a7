"""Cor. 6 by numbers: the policies of Algorithm 1 as printed, on a continuous MDP.

Whether they lie in the space of the exponential kernel, and beside it how the error of the action
values and the norm of T_n depend on kernel and regularization.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.kernels import Exponential, Kernel
from powr.mirror_descent import softmax
from suite.theory import models
from suite.theory.simulation import transfer_norm


class Setting(NamedTuple):
    gamma: float
    regularization: float
    step_size: float
    steps: int


def algorithm_1(
    kernel: Kernel, data: tuple[NDArray, ...], setting: Setting
) -> Iterator[tuple[NDArray, NDArray]]:
    """C_t, whose softmax is pi_t, and the weights diag(c) E of q_t, for t = 0, 1, ..."""
    states, actions, rewards, next_states, _ = data
    E = np.eye(2)[actions]
    K = kernel(states, states) * (E @ E.T) + len(states) * setting.regularization * np.eye(len(E))
    H = kernel(next_states, states)
    C = np.zeros(E.shape)
    for _ in range(setting.steps):
        M = H * (softmax(setting.step_size * H @ C) @ E.T)
        c = np.linalg.solve(K - setting.gamma * M, rewards)
        yield C, c[:, None] * E
        C = C + c[:, None] * E


def error_and_norm(kernel: Kernel, n: int, seed: int, setting: Setting) -> tuple[float, float]:
    """The largest error over the steps, in the uniform norm; the norm of T_n, on bounded functions.

    Both on n transitions.
    """
    data = models.continuous_sample(n, np.random.default_rng([seed, n]))
    points = models.GRID[:, None]
    at_points = kernel(points, data[0])
    errors = []
    for C, q in algorithm_1(kernel, data, setting):
        policy = softmax(setting.step_size * at_points @ C)
        exact = models.continuous_action_values(policy, setting.gamma)
        errors.append(np.abs(at_points @ q - exact).max())
    norm = transfer_norm(kernel, data[0], data[1], setting.regularization, points)
    return float(max(errors)), norm


def norm_growth(bandwidth: float, n: int, seed: int, setting: Setting) -> tuple[float, float]:
    """Squared norm on a grid over that on a grid four times as coarse, of the first action.

    Of the last policy of Algorithm 1, and of the greedy policy, which jumps. A function is in H if
    and only if its norm on a grid stays bounded as the grid is refined.
    """
    kernel = Exponential(bandwidth)
    data = models.continuous_sample(n, np.random.default_rng([seed, n]))
    *_, (C, _) = algorithm_1(kernel, data, setting)
    norms = []
    for cells in (2**12, 2**14):
        exponents = kernel(np.linspace(0, 1, cells + 1)[:, None], data[0]) @ C
        policy = softmax(setting.step_size * exponents)[:, 0]
        greedy = (exponents[:, 0] > exponents[:, 1]).astype(float)
        norms.append([kernel_norm(policy, bandwidth), kernel_norm(greedy, bandwidth)])
    (policy_coarse, greedy_coarse), (policy_fine, greedy_fine) = norms
    return policy_fine / policy_coarse, greedy_fine / greedy_coarse


def kernel_norm(values: NDArray, bandwidth: float) -> float:
    """f' K^-1 f for the exponential kernel on equally spaced points of [0, 1].

    The squared norm of the smallest function of H with these values. K^-1 is tridiagonal.
    """
    correlation = np.exp(-1 / (len(values) - 1) / bandwidth)
    innovations = values[1:] - correlation * values[:-1]
    return float(values[0] ** 2 + innovations @ innovations / (1 - correlation**2))
