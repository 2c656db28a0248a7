"""Two results of the paper computed on finite models, where both sides are known exactly.

Prop. 3: the closed-form action values of a world model that knows the transitions equal exact
policy evaluation. Thm. 7: mirror descent with them approaches the optimum at the rate 1/T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.kernels import Dirac
from powr.mirror_descent import kl_step, softmax
from powr.tabular import TabularMDP, greedy_policy
from powr.world_model import WorldModel

DENOMINATOR = 12  # probabilities of the models are multiples of 1/12
ROUNDING = 1e-10  # gaps this small against the first are rounding errors


def model_of_table(mdp: TabularMDP, regularization: float) -> WorldModel:
    """The world model of data in which each outcome is as frequent as it is probable."""
    probabilities = mdp.transitions.toarray()
    ends = 1 - probabilities.sum(axis=1, keepdims=True)
    counts = np.hstack([probabilities, ends]) * DENOMINATOR
    if not np.allclose(counts, counts.round()):
        raise ValueError(f"a transition probability is no multiple of 1/{DENOMINATOR}")
    pairs, outcomes = np.nonzero(counts.round())
    repeats = counts[pairs, outcomes].round().astype(int)
    states, actions = np.divmod(np.repeat(pairs, repeats), mdp.n_actions)
    outcomes = np.repeat(outcomes, repeats)
    terminated = outcomes == mdp.n_states
    return WorldModel(Dirac(), mdp.n_actions, regularization=regularization).fit(
        states,
        actions,
        mdp.rewards[states, actions],
        np.where(terminated, states, outcomes),
        terminated,
    )


def estimate(model: WorldModel, policy: NDArray, gamma: float) -> NDArray:
    """Prop. 3 at every state of the table, (n_states, n_actions)."""
    return model.action_values(lambda states: policy[states], gamma)(np.arange(len(policy)))


def closed_form_error(mdp: TabularMDP, *, gamma: float, regularization: float) -> float:
    """Largest error of Prop. 3 relative to the largest action value, over three policies."""
    model = model_of_table(mdp, regularization)
    exponents = np.random.default_rng(0).normal(size=mdp.rewards.shape)
    policies = (
        np.full(mdp.rewards.shape, 1 / mdp.n_actions),
        softmax(exponents),
        greedy_policy(mdp.optimal_action_values(gamma)),
    )
    exact = [mdp.action_values(policy, gamma) for policy in policies]
    return max(
        float(np.abs(estimate(model, policy, gamma) - values).max() / np.abs(values).max())
        for policy, values in zip(policies, exact, strict=True)
    )


class Descent(NamedTuple):
    """Mirror descent from the uniform policy: after each step, J(optimum) - J and its bound."""

    gaps: NDArray
    bounds: NDArray

    @property
    def rate(self) -> float:
        """Slope of the gap over the steps, in logarithms, from a tenth of them to rounding."""
        steps = np.arange(1, len(self.gaps) + 1)
        late = (steps > len(steps) / 10) & (self.gaps > ROUNDING * self.gaps[0])
        if late.sum() < 2:
            return -np.inf
        return float(np.polyfit(np.log(steps[late]), np.log(self.gaps[late]), 1)[0])


def descend(
    mdp: TabularMDP, *, gamma: float, regularization: float, step_size: float, steps: int
) -> Descent:
    """Algorithm 1 in the world model of the table; the bound is that of Thm. 7's proof."""
    model = model_of_table(mdp, regularization)
    optimal = greedy_policy(mdp.optimal_action_values(gamma))
    optimum = mdp.objective(optimal, gamma)
    policy = np.full(mdp.rewards.shape, 1 / mdp.n_actions)
    gaps, errors = [], []
    for _ in range(steps):
        values = estimate(model, policy, gamma)
        errors.append(np.abs(values - mdp.action_values(policy, gamma)).max())
        policy = kl_step(policy, values, step_size)
        gaps.append(optimum - mdp.objective(policy, gamma))
    errors.append(np.abs(estimate(model, policy, gamma) - mdp.action_values(policy, gamma)).max())
    # KL(optimal, uniform) is log n_actions in every state.
    distance = np.log(mdp.n_actions) * mdp.state_visitation(optimal, gamma).sum()
    constant = 2 * np.abs(mdp.rewards).max() / (1 - gamma) ** 2
    constant += distance / (step_size * (1 - gamma))
    summed = np.cumsum(errors[:-1]) * (1 + 2 / (1 - gamma) ** 2)
    bounds = errors[1:] + (summed + constant) / np.arange(1, steps + 1)
    return Descent(np.array(gaps), np.asarray(bounds))
