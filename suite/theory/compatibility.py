"""Thm. 5 and Cor. 6: the policies of mirror descent in a Sobolev kernel's space and in another.

Along mirror descent in one world model: the largest error of the action values, and the norm of
T_n, which Lemma 8 asks to be less than 1 / gamma.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from powr.kernels import Kernel
from powr.mirror_descent import softmax
from powr.world_model import WorldModel
from suite.theory import continuous
from suite.theory.simulation import transfer_norm


class Behaviour(NamedTuple):
    error: float  # largest over the steps, in the uniform norm
    norm: float  # of T_n on bounded functions


def behaviour(
    kernel: Kernel,
    n: int,
    seed: int,
    *,
    gamma: float,
    regularization: float,
    step_size: float,
    steps: int,
) -> Behaviour:
    data = continuous.sample(n, np.random.default_rng([seed, n]))
    model = WorldModel(
        kernel, continuous.N_ACTIONS, regularization=regularization, method="exact"
    ).fit(*data)
    points = continuous.GRID[:, None]
    at_states = np.zeros((len(model.states_), continuous.N_ACTIONS))
    on_grid = np.zeros((len(points), continuous.N_ACTIONS))
    errors = []
    for _ in range(steps):
        weights = model.solve(softmax(at_states), gamma)
        estimated = model.function(model.coefficients(weights))(points)
        exact = continuous.action_values(softmax(on_grid), gamma)
        errors.append(np.abs(estimated - exact).max())
        at_states += step_size * model.at_states(weights)
        on_grid += step_size * estimated
    states, actions, *_ = data
    norm = transfer_norm(kernel, states, actions, regularization, points)
    return Behaviour(float(max(errors)), norm)
