"""Prop. 3: a world model that knows the transitions of a finite MDP gives its action values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.kernels import Dirac
from powr.mirror_descent import softmax
from powr.tabular import TabularMDP, greedy_policy
from powr.world_model import WorldModel

DENOMINATOR = 12  # probabilities of the models are multiples of 1/12


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
