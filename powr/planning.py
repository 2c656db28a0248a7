"""A plan: mirror descent in the world model, from the policy there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from powr.functions import Constant
from powr.guard import GuardedModel
from powr.mirror_descent import mirror_descent
from powr.policy import Policy, make_policy
from powr.world_model import WorldModel


@dataclass
class Plan:
    """A policy, and its exponent over the states of the world model it was made in.

    `coefficients` are those of the exponent as a kernel expansion over the states, `exponents` its
    values there; both are (states, n_actions). `regularization` is the strongest that was needed.
    """

    policy: Policy
    coefficients: NDArray
    exponents: NDArray
    regularization: float


def first_plan(n_actions: int) -> Plan:
    """The uniform policy, before anything is known."""
    nothing = np.zeros((0, n_actions))
    return Plan(Policy(Constant(0.0, n_actions)), nothing, nothing, 0.0)


def summed_plan(
    model: WorldModel, previous: Plan, *, steps: int, step_size: float, gamma: float
) -> Plan:
    """Mirror descent from the previous policy: its exponent sums over all plans, Eq. (15)."""
    known = len(previous.coefficients)
    exponents = np.vstack([previous.exponents, previous.policy(model.states_[known:])])
    guarded = GuardedModel(model)
    gain, coefficients = mirror_descent(
        guarded, exponents, steps=steps, step_size=step_size, gamma=gamma
    )
    coefficients[:known] += previous.coefficients
    policy = make_policy(model.function(coefficients))
    return Plan(policy, coefficients, exponents + gain, guarded.regularization)
