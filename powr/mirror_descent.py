"""Policy mirror descent with the Kullback-Leibler divergence: Eqs. (14) and (15) of the paper.

A policy is the softmax of its exponent, the step size times the running sum of action values, so
that a step adds to the exponent and nothing else. All functions act on rows: one state per row,
one action per column.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class ActionValueModel(Protocol):
    """What the loop of Algorithm 1 asks of a world model."""

    def solve(self, policy: NDArray, gamma: float) -> NDArray: ...

    def at_states(self, weights: NDArray) -> NDArray: ...

    def coefficients(self, weights: NDArray) -> NDArray: ...


def softmax(exponents: NDArray) -> NDArray:
    """Probabilities proportional to exp(exponents) in each row; no exponent is too large.

    >>> softmax(np.array([[1000.0, 1000.0]]))
    array([[0.5, 0.5]])
    """
    exponents = np.asfortranarray(exponents)  # so that sums over actions run along the rows
    probabilities = exponents - exponents.max(axis=-1, keepdims=True)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    return probabilities


def kl_step(policy: NDArray, action_values: NDArray, step_size: float) -> NDArray:
    """The minimiser over the simplex of -step_size <q, p> + KL(p, policy), Eq. (14)."""
    with np.errstate(divide="ignore"):
        return softmax(np.log(policy) + step_size * action_values)


def mirror_descent(
    model: ActionValueModel, exponents: NDArray, *, steps: int, step_size: float, gamma: float
) -> tuple[NDArray, NDArray]:
    """The loop of Algorithm 1 in a world model, from the policy's exponents at its states.

    Returns what the steps add to the exponent: its values at `model.states_` and its coefficients
    over them, both (states, actions).
    """
    gain: NDArray = np.zeros_like(exponents, order="F")
    weights = np.zeros(())
    for _ in range(steps):
        step = step_size * model.solve(softmax(exponents + gain), gamma)
        gain += model.at_states(step)
        weights = weights + step
    return gain, model.coefficients(weights)
