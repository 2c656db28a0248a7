"""Finite MDPs by dense operators in state-action space and by brute force.

A model is a list of transition probabilities `transitions[s, a, s']` of the steps after which
the episode goes on, and of expected rewards `rewards[s, a]`.
"""

from __future__ import annotations

from functools import cache

import gymnasium
import numpy as np


def read_table(env: gymnasium.Env) -> tuple[np.ndarray, np.ndarray]:
    """The (S, A, S) transitions and the (S, A) rewards of `env.unwrapped.P`."""
    table = env.unwrapped.P
    transitions = np.zeros((len(table), len(table[0]), len(table)))
    rewards = np.zeros((len(table), len(table[0])))
    for state, by_action in table.items():
        for action, outcomes in by_action.items():
            for probability, next_state, reward, terminated in outcomes:
                rewards[state, action] += probability * reward
                transitions[state, action, next_state] += 0.0 if terminated else probability
    return transitions, rewards


def transfer_operator(transitions: np.ndarray) -> np.ndarray:
    """T of Eq. (5), an (S * A, S) matrix: (T f)(s, a) = sum over s' of f(s') tau(s'|s, a)."""
    return transitions.reshape(-1, len(transitions))


def policy_operator(policy: np.ndarray) -> np.ndarray:
    """P of Eq. (6), an (S, S * A) matrix: (P g)(s) = sum over a of g(s, a) pi(a|s)."""
    n_states, n_actions = policy.shape
    P = np.zeros((n_states, n_states * n_actions))
    for s in range(n_states):
        for a in range(n_actions):
            P[s, s * n_actions + a] = policy[s, a]
    return P


def action_values(
    transitions: np.ndarray, rewards: np.ndarray, policy: np.ndarray, gamma: float
) -> np.ndarray:
    """Eq. (7): (I - gamma T P)^-1 r with the inverse written out."""
    TP = transfer_operator(transitions) @ policy_operator(policy)
    return (np.linalg.inv(np.eye(len(TP)) - gamma * TP) @ rewards.ravel()).reshape(rewards.shape)


def optimal_action_values(
    transitions: np.ndarray, rewards: np.ndarray, gamma: float, iterations: int
) -> np.ndarray:
    """Value iteration from zero; the error left is gamma^iterations max|r| / (1 - gamma)."""
    q = np.zeros_like(rewards)
    for _ in range(iterations):
        q = rewards + gamma * transitions @ q.max(axis=1)
    return q


def expected_return(
    transitions: np.ndarray,
    rewards: np.ndarray,
    initial_distribution: np.ndarray,
    policy: np.ndarray,
    horizon: int,
) -> float:
    """The undiscounted return of an episode, by recursion over every state and step."""
    n_states, n_actions = rewards.shape

    @cache
    def value(state: int, steps_left: int) -> float:
        if steps_left == 0:
            return 0.0
        total = 0.0
        for a in range(n_actions):
            future = sum(
                transitions[state, a, s_next] * value(s_next, steps_left - 1)
                for s_next in range(n_states)
                if transitions[state, a, s_next] > 0
            )
            total += policy[state, a] * (rewards[state, a] + future)
        return total

    return sum(initial_distribution[s] * value(s, horizon) for s in range(n_states))


def shrunk_model(
    states: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    next_states: np.ndarray,
    terminated: np.ndarray,
    *,
    n_states: int,
    n_actions: int,
    regularization: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The empirical MDP shrunk by n lambda: Eq. (10) with the Dirac kernel, by counting.

    T_n(s'|s, a) = count(s, a, s') / (count(s, a) + n lambda), and likewise the rewards.
    """
    counts = np.zeros((n_states, n_actions))
    reward_sums = np.zeros((n_states, n_actions))
    next_counts = np.zeros((n_states, n_actions, n_states))
    for s, a, r, s_next, end in zip(states, actions, rewards, next_states, terminated, strict=True):
        counts[s, a] += 1
        reward_sums[s, a] += r
        next_counts[s, a, s_next] += 0 if end else 1
    scale = counts + len(states) * regularization
    return next_counts / scale[:, :, None], reward_sums / scale
