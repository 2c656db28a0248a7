"""Thm. 5 on a line: steps of mirror descent in a Sobolev space, and whether norms settle in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from powr.mirror_descent import kl_step

SMOOTHNESS = 0.2  # of the Sobolev space on [0, 1]; above d/2 it would hold bounded functions only
SOBOLEV_STEP = 30.0


class SobolevStep(NamedTuple):
    """Functions on [0, 1] at midpoints: the two action values, and policies before and after."""

    q: NDArray
    policy: NDArray
    after: NDArray


def unbounded_step(resolution: int) -> SobolevStep:
    """Thm. 5 with q = x^(-1/8), unbounded.

    The policy's oscillations at 0 are damped by exp(-30 q), and a step of size 30 undoes that: it
    leads to 1/2 + sin(x^-3) / 4, which is not in the space.
    """
    x = (np.arange(resolution) + 0.5) / resolution
    q, wild = x ** (-1 / 8), 0.5 + np.sin(x**-3) / 4
    damped = wild * np.exp(-SOBOLEV_STEP * q)
    policy = np.stack([damped, 1 - wild], axis=1) / (damped + 1 - wild)[:, None]
    return _step(q, policy)


def bounded_step(resolution: int) -> SobolevStep:
    """Thm. 5 with q = sin(x^(-1/2)), bounded: the step stays in the space."""
    x = (np.arange(resolution) + 0.5) / resolution
    first = 0.5 + np.cos(x**-0.5) / 4
    return _step(np.sin(x**-0.5), np.stack([first, 1 - first], axis=1))


def _step(q: NDArray, policy: NDArray) -> SobolevStep:
    q = np.stack([q, np.zeros_like(q)], axis=1)
    return SobolevStep(q, policy, kl_step(policy, q, SOBOLEV_STEP))


def norm_growth(make: Callable[[int], SobolevStep]) -> dict[str, float]:
    """How much more the squared norm grows from 2^15 to 2^18 points than from 2^12 to 2^15.

    By function of the first action. Less than 1 if the norm settles as the grid is refined.
    """
    steps = [make(2**exponent) for exponent in (12, 15, 18)]
    growth = {}
    for name in SobolevStep._fields:
        norms = [sobolev_norm(getattr(step, name)[:, 0], SMOOTHNESS) for step in steps]
        first, second = np.diff(norms)
        growth[name] = float(second / first)
    return growth


def sobolev_norm(values: NDArray, smoothness: float) -> float:
    """Squared norm of a function on [0, 1] given at midpoints, by its cosine coefficients."""
    coefficients = dct(values, type=2) / len(values)
    return float((1 + np.arange(len(values)) ** 2) ** smoothness @ coefficients**2)
