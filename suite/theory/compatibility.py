"""Cor. 6 by numbers: the policies of Algorithm 1, computed as printed, on a continuous MDP.

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
from suite.theory import continuous
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
    states, actions, rewards, following, _ = data
    E = np.eye(continuous.N_ACTIONS)[actions]
    K = kernel(states, states) * (E @ E.T) + len(states) * setting.regularization * np.eye(len(E))
    H = kernel(following, states)
    C = np.zeros(E.shape)
    for _ in range(setting.steps):
        M = H * (softmax(setting.step_size * H @ C) @ E.T)
        c = np.linalg.solve(K - setting.gamma * M, rewards)
        yield C, c[:, None] * E
        C = C + c[:, None] * E


class Behaviour(NamedTuple):
    error: float  # largest over the steps, in the uniform norm
    norm: float  # of T_n on bounded functions


def behaviour(kernel: Kernel, n: int, seed: int, setting: Setting) -> Behaviour:
    data = continuous.sample(n, np.random.default_rng([seed, n]))
    points = continuous.GRID[:, None]
    at_points = kernel(points, data[0])
    errors = []
    for C, q in algorithm_1(kernel, data, setting):
        policy = softmax(setting.step_size * at_points @ C)
        exact = continuous.action_values(policy, setting.gamma)
        errors.append(np.abs(at_points @ q - exact).max())
    states, actions, *_ = data
    norm = transfer_norm(kernel, states, actions, setting.regularization, points)
    return Behaviour(float(max(errors)), norm)


class Growth(NamedTuple):
    """Squared norm on a grid over that on a grid four times as coarse, of the first action."""

    policy: float  # the last one of Algorithm 1
    greedy: float  # the policy that takes the better action, which jumps


def norm_growth(bandwidth: float, n: int, seed: int, setting: Setting) -> Growth:
    """A function is in H if and only if its norm on a grid stays bounded as the grid is refined."""
    kernel = Exponential(bandwidth)
    data = continuous.sample(n, np.random.default_rng([seed, n]))
    *_, (C, _) = algorithm_1(kernel, data, setting)
    norms = []
    for cells in (2**12, 2**14):
        exponents = kernel(np.linspace(0, 1, cells + 1)[:, None], data[0]) @ C
        greedy = (exponents[:, 0] > exponents[:, 1]).astype(float)
        norms.append(
            [
                kernel_norm(values, bandwidth)
                for values in (softmax(setting.step_size * exponents)[:, 0], greedy)
            ]
        )
    return Growth(*(fine / coarse for coarse, fine in zip(*norms, strict=True)))


def kernel_norm(values: NDArray, bandwidth: float) -> float:
    """f' K^-1 f for the exponential kernel on equally spaced points of [0, 1].

    The squared norm of the smallest function of H with these values. K^-1 is tridiagonal.
    """
    correlation = np.exp(-1 / (len(values) - 1) / bandwidth)
    innovations = values[1:] - correlation * values[:-1]
    return float(values[0] ** 2 + innovations @ innovations / (1 - correlation**2))
