"""Thm. 5 on a line: steps of mirror descent in a Sobolev space, and whether norms settle in it.

A step is given by three functions on [0, 1] at midpoints, each with one column per action: the
action values, the policy before and the policy after.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from powr.mirror_descent import kl_step

SMOOTHNESS = 0.2  # of the Sobolev space on [0, 1]; above d/2 it would hold bounded functions only
STEP_SIZE = 30.0

Step = tuple[NDArray, NDArray, NDArray]


def unbounded_step(resolution: int) -> Step:
    """Thm. 5 with q = x^(-1/8), unbounded.

    The policy's oscillations at 0 are damped by exp(-30 q), and a step of size 30 undoes that: it
    leads to 1/2 + sin(x^-3) / 4, which is not in the space.
    """
    x = (np.arange(resolution) + 0.5) / resolution
    q, wild = x ** (-1 / 8), 0.5 + np.sin(x**-3) / 4
    damped = wild * np.exp(-STEP_SIZE * q)
    return _step(q, np.stack([damped, 1 - wild], axis=1) / (damped + 1 - wild)[:, None])


def bounded_step(resolution: int) -> Step:
    """Thm. 5 with q = sin(x^(-1/2)), bounded: the step stays in the space."""
    x = (np.arange(resolution) + 0.5) / resolution
    first = 0.5 + np.cos(x**-0.5) / 4
    return _step(np.sin(x**-0.5), np.stack([first, 1 - first], axis=1))


def _step(first_q: NDArray, policy: NDArray) -> Step:
    q = np.stack([first_q, np.zeros_like(first_q)], axis=1)
    return q, policy, kl_step(policy, q, STEP_SIZE)


def norm_growth(make: Callable[[int], Step]) -> list[float]:
    """How much more the squared norm grows from 2^15 to 2^18 points than from 2^12 to 2^15.

    Of each function's first column. Less than 1 if the norm settles as the grid is refined.
    """
    norms = [
        [sobolev_norm(function[:, 0], SMOOTHNESS) for function in make(2**exponent)]
        for exponent in (12, 15, 18)
    ]
    first, second = np.diff(norms, axis=0)
    return [float(ratio) for ratio in second / first]


def sobolev_norm(values: NDArray, smoothness: float) -> float:
    """Squared norm of a function on [0, 1] given at midpoints, by its cosine coefficients."""
    coefficients = dct(values, type=2) / len(values)
    return float((1 + np.arange(len(values)) ** 2) ** smoothness @ coefficients**2)
