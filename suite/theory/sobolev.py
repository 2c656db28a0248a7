"""Thm. 5 and Cor. 6 on a line: do policies stay in a Sobolev space, by norms on finer grids?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from powr.kernels import Exponential, Kernel
from powr.mirror_descent import kl_step, softmax
from suite.theory import estimation

# The action values, the policy before and the policy after a step of mirror descent: functions on
# [0, 1] at midpoints, one column per action.
Step = tuple[NDArray, NDArray, NDArray]
SMOOTHNESS = 0.2  # of the Sobolev space of a `Step`; above d/2 it would hold bounded functions only
STEP_SIZE = 30.0


class Setting(NamedTuple):
    """Of Algorithm 1."""

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

    Both on n transitions of the continuous MDP.
    """
    data = estimation.continuous_sample(n, np.random.default_rng([seed, n]))
    points = estimation.GRID[:, None]
    at_points = kernel(points, data[0])
    errors = []
    for C, q in algorithm_1(kernel, data, setting):
        policy = softmax(setting.step_size * at_points @ C)
        exact = estimation.continuous_action_values(policy, setting.gamma)
        errors.append(np.abs(at_points @ q - exact).max())
    norm = estimation.transfer_norm(kernel, data[0], data[1], setting.regularization, points)
    return float(max(errors)), norm


def growth_of_policies(bandwidth: float, n: int, seed: int, setting: Setting) -> NDArray:
    """Squared norm on a grid over that on a grid four times as coarse, of the first action.

    Of the last policy of Algorithm 1, and of the greedy policy, which jumps. A function is in H if
    and only if its norm on a grid stays bounded as the grid is refined.
    """
    kernel = Exponential(bandwidth)
    data = estimation.continuous_sample(n, np.random.default_rng([seed, n]))
    *_, (C, _) = algorithm_1(kernel, data, setting)
    norms = []
    for cells in (2**12, 2**14):
        exponents = kernel(np.linspace(0, 1, cells + 1)[:, None], data[0]) @ C
        policy = softmax(setting.step_size * exponents)[:, 0]
        greedy = (exponents[:, 0] > exponents[:, 1]).astype(float)
        norms.append([kernel_norm(policy, bandwidth), kernel_norm(greedy, bandwidth)])
    return np.divide(norms[1], norms[0])


def kernel_norm(values: NDArray, bandwidth: float) -> float:
    """f' K^-1 f for the exponential kernel on equally spaced points of [0, 1].

    The squared norm of the smallest function of H with these values. K^-1 is tridiagonal.
    """
    correlation = np.exp(-1 / (len(values) - 1) / bandwidth)
    innovations = values[1:] - correlation * values[:-1]
    return float(values[0] ** 2 + innovations @ innovations / (1 - correlation**2))


def unbounded_step(resolution: int) -> Step:
    """Thm. 5 with q = x^(-1/8), unbounded.

    The policy's oscillations at 0 are damped by exp(-30 q), and a step of size 30 undoes that: it
    leads to 1/2 + sin(x^-3) / 4, which is not in the space.
    """
    x = (np.arange(resolution) + 0.5) / resolution
    q, wild = x ** (-1 / 8), 0.5 + np.sin(x**-3) / 4
    damped = wild * np.exp(-STEP_SIZE * q)
    return _step(q, damped / (damped + 1 - wild))


def bounded_step(resolution: int) -> Step:
    """Thm. 5 with q = sin(x^(-1/2)), bounded: the step stays in the space."""
    x = (np.arange(resolution) + 0.5) / resolution
    return _step(np.sin(x**-0.5), 0.5 + np.cos(x**-0.5) / 4)


def _step(q: NDArray, policy: NDArray) -> Step:
    """Of the first of two actions; the other has action value 0."""
    both_q, both = np.stack([q, 0 * q], axis=1), np.stack([policy, 1 - policy], axis=1)
    return both_q, both, kl_step(both, both_q, STEP_SIZE)


def growth_in_step(make: Callable[[int], Step]) -> NDArray:
    """How much more the squared norm grows from 2^15 to 2^18 points than from 2^12 to 2^15.

    Of each function of the step. Less than 1 if the norm settles as the grid is refined.
    """
    norms = [
        [sobolev_norm(function[:, 0]) for function in make(2**exponent)]
        for exponent in (12, 15, 18)
    ]
    first, second = np.diff(norms, axis=0)
    return second / first


def sobolev_norm(values: NDArray) -> float:
    """Squared norm of a function on [0, 1] given at midpoints, by its cosine coefficients."""
    coefficients = dct(values, type=2) / len(values)
    return float((1 + np.arange(len(values)) ** 2) ** SMOOTHNESS @ coefficients**2)
