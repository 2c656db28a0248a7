"""Mirror descent with growing steps, from the uniform policy until its action values settle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.mirror_descent import softmax

# Final inverse temperature, relative to the range of Q: nearly greedy, ties uniform.
_SHARPNESS = 1e6

MOST_STEPS = 500


class Planning(NamedTuple):
    """How a plan is made: mirror descent, of which other planners are the limits.

    Steps without a size of their own grow by the factor `growth`, so that old estimates are soon
    outweighed; infinite steps are greedy. Before a step, the policy's action values are `exact` or
    one Bellman backup on from the last ones; None is what costs less in the model.
    """

    growth: float = 16.0
    exact: bool | None = None


MIRROR_DESCENT = Planning()
POLICY_ITERATION = Planning(growth=math.inf, exact=True)
VALUE_ITERATION = Planning(growth=math.inf, exact=False)


class Settled(NamedTuple):
    """Where mirror descent ended: the exponents and the last action values at its states."""

    exponents: NDArray
    action_values: NDArray
    step_size: float
    n_steps: int


def settle(
    evaluate: Callable[[NDArray], NDArray],
    shape: tuple[int, int],
    *,
    tolerance: float,
    step_size: float | None = None,
    mirror_steps: int | None = None,
    growth: float = MIRROR_DESCENT.growth,
    most_steps: int = MOST_STEPS,
    most_spread: float = math.inf,
) -> Settled:
    """Mirror descent from the uniform policy until its action values settle.

    `evaluate` maps a policy to its action values, both of `shape` (states, actions). Steps that
    grow geometrically converge linearly, as policy iteration does; their size is in units of the
    spread of the action values, or of `most_spread` if that is less, so that a policy does not
    depend on the scale of the rewards. A
    `step_size` is used as it is. Steps of one size converge no faster than their number grows, so
    that they seldom settle before `most_steps` where `tolerance` is small. A number of
    `mirror_steps` is taken in full; without one, the end is where a step changes the action
    values, and the policy falls short of their maximum, by less than `tolerance` of their range, or
    after `most_steps`.
    """
    exponents, previous, size = np.zeros(shape, order="F"), np.zeros(shape, order="F"), 1.0
    for taken in range(1, (mirror_steps or most_steps) + 1):
        values = np.asfortranarray(evaluate(softmax(exponents)))
        highest = values.max(axis=1)
        spread = min(float((highest - values.min(axis=1)).max()), most_spread)
        if step_size is None:
            # The sum of growing steps, in units of the last one.
            new_size = _SHARPNESS / spread if spread > 0 else 1.0
            exponents = exponents * (new_size / size / growth) + new_size * values
            size = new_size
        else:
            exponents, size = exponents + step_size * values, step_size
        if mirror_steps is None and taken > 1:
            change, allowed = np.abs(values - previous).max(), tolerance * np.ptp(values)
            if change <= allowed and missed(values, exponents, highest) <= allowed:
                break
        previous = values
    return Settled(exponents, values, size, taken)


def missed(values: NDArray, exponents: NDArray, highest: NDArray) -> float:
    """How far the most probable actions fall short of the highest values, at the worst state."""
    likeliest = exponents.argmax(axis=1)[:, None]
    return float((highest - np.take_along_axis(values, likeliest, axis=1)[:, 0]).max())


def repeated(backup: Callable[[NDArray], NDArray], tolerance: float) -> Callable:
    """The evaluation of a policy by backups until they change nothing more, as in `settle`."""

    def evaluate(policy: NDArray) -> NDArray:
        values = backup(policy)
        for _ in range(MOST_STEPS):
            previous, values = values, backup(policy)
            if np.abs(values - previous).max() <= tolerance * np.ptp(values):
                break
        return values

    return evaluate
