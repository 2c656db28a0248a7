"""Prop. 3, Cor. A.7 and Lemma 8 on tables: the action values of a world model and their error.

Lemma 8 ends in the Hilbert-Schmidt norm of T - T_n times the uniform norm of v, where its proof
supports the norm of v in F. What precedes that step holds: it is computed here, in the uniform
norm, with the measured norm of the estimate T_n.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.kernels import Dirac, Kernel
from powr.mirror_descent import softmax
from powr.tabular import TabularMDP, greedy_policy
from powr.world_model import WorldModel

DENOMINATOR = 12  # probabilities of the tables are multiples of 1/12


class Error(NamedTuple):
    measured: float  # of the action values
    bound: float  # by ||(T - T_n) v||, the tightest that the lemma's proof gives
    loose_bound: float  # by ||T - T_n|| ||r|| / (1 - gamma)


def uniform_policy(mdp: TabularMDP) -> NDArray:
    return np.full(mdp.rewards.shape, 1 / mdp.n_actions)


def estimate(model: WorldModel, policy: NDArray, gamma: float) -> NDArray:
    """Prop. 3 at every state of the table, (n_states, n_actions)."""
    return model.action_values(lambda states: policy[states], gamma)(np.arange(len(policy)))


def closed_form_error(mdp: TabularMDP, gamma: float, regularization: float) -> float:
    """Largest error of Prop. 3 relative to the largest action value, over three policies.

    The model is that of data in which each outcome is as frequent as it is probable.
    """
    probabilities = mdp.transitions.toarray()
    ends = 1 - probabilities.sum(axis=1, keepdims=True)
    frequencies = np.hstack([probabilities, ends]) * DENOMINATOR
    counts = frequencies.round().astype(int)
    if not np.allclose(frequencies, counts):
        raise ValueError(f"a transition probability is no multiple of 1/{DENOMINATOR}")
    pairs, outcomes = (np.repeat(each, counts[counts > 0]) for each in np.nonzero(counts))
    states, actions = np.divmod(pairs, mdp.n_actions)
    terminated = outcomes == mdp.n_states
    next_states = np.where(terminated, states, outcomes)
    model = WorldModel(Dirac(), mdp.n_actions, regularization=regularization)
    model.fit(states, actions, mdp.rewards[states, actions], next_states, terminated)
    errors = []
    for policy in (
        uniform_policy(mdp),
        softmax(np.random.default_rng(0).normal(size=mdp.rewards.shape)),
        greedy_policy(mdp.optimal_action_values(gamma)),
    ):
        exact = mdp.action_values(policy, gamma)
        errors.append(np.abs(estimate(model, policy, gamma) - exact).max() / np.abs(exact).max())
    return float(max(errors))


def transfer_estimate(model: WorldModel, n_states: int) -> NDArray:
    """T_n of Eq. (10) as an (n_states * n_actions, n_states) matrix, for the Dirac kernel."""
    states = np.arange(n_states)
    columns = [
        model.expect(partial(np.equal, state), states, past_termination=False).ravel()
        for state in states
    ]
    return np.stack(columns, axis=1)


def error_and_bounds(mdp: TabularMDP, model: WorldModel, policy: NDArray, gamma: float) -> Error:
    estimated = transfer_estimate(model, mdp.n_states)
    difference = mdp.transitions.toarray() - estimated
    reward_error = np.abs(model.reward(np.arange(mdp.n_states)) - mdp.rewards).max()
    by_values = np.abs(difference @ mdp.values(policy, gamma)).max()
    by_norm = uniform_norm(difference) * np.abs(mdp.rewards).max() / (1 - gamma)
    horizon = 1 / (1 - gamma * uniform_norm(estimated))
    measured = np.abs(estimate(model, policy, gamma) - mdp.action_values(policy, gamma)).max()
    return Error(
        float(measured),
        float(horizon * (reward_error + gamma * by_values)),
        float(horizon * (reward_error + gamma * by_norm)),
    )


def identity_error(mdp: TabularMDP, model: WorldModel, policy: NDArray, gamma: float) -> float:
    """Cor. A.7 with the sign of T_1 - T_2 corrected: largest difference of its sides, relative."""
    T, T_n = mdp.transitions.toarray(), transfer_estimate(model, mdp.n_states)
    r, r_n = mdp.rewards.ravel(), model.reward(np.arange(mdp.n_states)).ravel()
    P = np.repeat(np.eye(mdp.n_states), mdp.n_actions, axis=1) * policy.ravel()
    v = mdp.values(policy, gamma)
    right = np.linalg.solve(np.eye(len(r)) - gamma * T_n @ P, r_n - r + gamma * (T_n - T) @ v)
    left = (estimate(model, policy, gamma) - mdp.action_values(policy, gamma)).ravel()
    return float(np.abs(left - right).max() / np.abs(left).max())


def uniform_norm(operator: NDArray) -> float:
    """Norm as an operator on bounded functions: the largest absolute row sum."""
    return float(np.abs(operator).sum(axis=1).max())


def transfer_norm(
    kernel: Kernel, states: NDArray, actions: NDArray, regularization: float, points: NDArray
) -> float:
    """||T_n|| on bounded functions, the largest sum over the data of |weights| at the points."""
    norms = []
    for action in np.unique(actions):
        seen = states[actions == action]
        gram = kernel(seen, seen) + len(states) * regularization * np.eye(len(seen))
        norms.append(uniform_norm(np.linalg.solve(gram, kernel(seen, points)).T))
    return max(norms)
