"""Thm. 7: mirror descent with inexact action values on finite MDPs, and two bounds on its gap.

The proof of the theorem compares a policy with a later one by Eq. (B.6), which holds for exact
action values only. `printed_bounds` are those it arrives at; `proven_bounds` have another constant
and a proof that does without that step (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.mirror_descent import softmax
from powr.tabular import TabularMDP, greedy_policy

# (step, policy, its exact action values) -> the action values that mirror descent is given
Estimator = Callable[[int, NDArray, NDArray], NDArray]


class Descent(NamedTuple):
    """Mirror descent from the uniform policy; entry t of each field is about t + 1 steps."""

    gaps: NDArray  # J(optimum) - J
    printed_bounds: NDArray
    proven_bounds: NDArray


def bandit(n_actions: int, gap: float) -> TabularMDP:
    """One state; one action pays `gap`, all others nothing."""
    rewards = [[gap, *[0.0] * (n_actions - 1)]]
    return TabularMDP.from_arrays(
        np.ones((1, n_actions, 1)), rewards=rewards, initial_distribution=[1.0]
    )


def misled(mdp: TabularMDP, gamma: float, error: Callable[[int], float]) -> Estimator:
    """Action values off by error(step): too low for optimal actions, too high for all others."""
    values = mdp.optimal_action_values(gamma)
    is_optimal = np.isclose(values, values.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    direction = np.where(is_optimal, -1.0, 1.0)
    return lambda step, policy, exact: exact + error(step) * direction


def descend(
    mdp: TabularMDP, estimate: Estimator, *, gamma: float, step_size: float, steps: int
) -> Descent:
    """Eq. (15) with estimated action values."""
    optimal = greedy_policy(mdp.optimal_action_values(gamma))
    optimum = mdp.objective(optimal, gamma)
    exponents = np.zeros(mdp.rewards.shape)
    gaps, errors = [], []
    for step in range(steps + 1):
        policy = softmax(exponents)
        exact = mdp.action_values(policy, gamma)
        estimated = estimate(step, policy, exact)
        gaps.append(optimum - mdp.initial_distribution @ (policy * exact).sum(axis=1))
        errors.append(np.abs(estimated - exact).max())
        exponents += step_size * estimated
    # KL(optimal, uniform) is log n_actions in every state.
    largest_distance = np.log(mdp.n_actions)
    distance = largest_distance * mdp.state_visitation(optimal, gamma).sum()
    reward = np.abs(mdp.rewards).max()
    return Descent(
        np.array(gaps[1:]),
        printed_bounds(np.array(errors), reward, distance / step_size, gamma),
        proven_bounds(np.array(errors[:-1]), reward, largest_distance / step_size, gamma),
    )


def printed_bounds(errors: NDArray, reward: float, distance: float, gamma: float) -> NDArray:
    """The last line of the proof of Thm. 7 after 1, 2, ... steps; `errors` are eps_0 ... eps_T.

    `distance` is <D(optimal; first), d(optimal)> over the step size.
    """
    horizon = 1 / (1 - gamma)
    steps = np.arange(1, len(errors))
    summed = np.cumsum(errors[:-1])
    constant = 2 * reward * horizon**2 + distance * horizon
    return errors[1:] + ((1 + 2 * horizon**2) * summed + constant) / steps


def proven_bounds(errors: NDArray, reward: float, distance: float, gamma: float) -> NDArray:
    """The bound that holds without Eq. (B.6); `errors` are eps_0 ... eps_(T-1).

    `distance` is the largest D(optimal; first) of any state, over the step size.
    """
    horizon = 1 / (1 - gamma)
    steps = np.arange(1, len(errors) + 1)
    summed = np.cumsum(errors)
    summed_loss = 2 * horizon**2 * (reward + summed) + horizon * distance
    return horizon * (distance + 2 * summed + gamma * summed_loss) / steps
