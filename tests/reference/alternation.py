"""The paper's experiment as printed: data collection alternates with Algorithm 1 (Section 6).

One row per transition, repeats included; dense K, H and M; explicit inverses. Two additions that
the paper leaves open: a terminated transition has the factor 1 - d_i in its row of M, and without
`restart` an epoch goes on from the policy of the last one, whose exponent is kept as one expansion
per epoch over the points of that epoch, as in the authors' code of June 2024. An epoch follows each
episode, the end of each call of `learn`, and so many timesteps of an episode that does not end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import gymnasium
import numpy as np

Gram = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Epoch(NamedTuple):
    """All data after an epoch, and the probabilities of its policy at every state in them."""

    states: list
    actions: list[int]
    rewards: list[float]
    next_states: list
    terminated: list[bool]
    probabilities: np.ndarray  # (2 n, |A|): at the states, then at the next states


def alternation(
    env: gymnasium.Env,
    kernel: Gram,
    *,
    gamma: float,
    step_size: float,
    mirror_steps: int,
    regularization: float,
    restart: bool,
    seed: int,
    call_length: int | None = None,
    longest_wait: int | None = None,
) -> Iterator[Epoch]:
    """Epochs without end; calls of `learn` take `call_length` timesteps each."""
    n_actions = int(env.action_space.n)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
    expansions: list[tuple[np.ndarray, np.ndarray]] = []  # points x_i and weights C of each epoch

    def exponents(x: np.ndarray) -> np.ndarray:
        """eta H_x C, summed over the epochs, Eq. (15)."""
        total = np.zeros((len(x), n_actions))
        for points, C in expansions:
            total += step_size * kernel(x, points) @ C
        return total

    states, actions, rewards, next_states, terminated = [], [], [], [], []
    x, n_learned = None, 0
    while True:
        # Run the environment with the current policy.
        if x is None:
            x, _ = env.reset(seed=int(rng.integers(2**31)))
        probabilities = softmax(exponents(np.array([x])))[0]
        draw, action = rng.random(), 0
        while action < n_actions - 1 and draw >= probabilities[: action + 1].sum():
            action += 1
        x_next, reward, is_terminal, is_truncated, _ = env.step(action)
        states.append(x)
        actions.append(action)
        rewards.append(float(reward))
        next_states.append(x_next)
        terminated.append(is_terminal)

        is_end_of_call = call_length is not None and len(states) % call_length == 0
        is_last = is_terminal or is_truncated or is_end_of_call
        x = None if is_last else x_next
        if not is_last and len(states) - n_learned != longest_wait:
            continue
        n_learned = len(states)

        # World model learning on all data.
        X, X_next, y = np.array(states), np.array(next_states), np.array(rewards)
        n = len(X)
        E = np.eye(n_actions)[actions]
        K = kernel(X, X) * (E @ E.T) + n * regularization * np.eye(n)  # Eq. (11)
        H = kernel(X_next, X)
        K_inverse = np.linalg.inv(K)
        b = K_inverse @ y

        # Policy mirror descent.
        if restart:
            expansions = []
        before = exponents(X_next)
        C = np.zeros((n, n_actions))
        for _ in range(mirror_steps):
            pi = softmax(before + step_size * H @ C)  # Eq. (15)
            M = H * (pi @ E.T)  # Eq. (13)
            M = (1 - np.array(terminated, float))[:, None] * M
            c = np.linalg.inv(np.eye(n) - gamma * K_inverse @ M) @ b  # Eq. (12)
            C = C + np.diag(c) @ E
        expansions.append((X, C))
        probabilities = softmax(exponents(np.concatenate([X, X_next])))
        yield Epoch(*map(list, (states, actions, rewards, next_states, terminated)), probabilities)


def softmax(exponents: np.ndarray) -> np.ndarray:
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def dirac(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x[:, None] == y[None, :]).astype(float)


def gaussian(bandwidth: list[float]) -> Gram:
    return lambda x, y: np.exp(-(distance(x, y, bandwidth) ** 2) / 2)


def exponential(bandwidth: list[float]) -> Gram:
    return lambda x, y: np.exp(-distance(x, y, bandwidth))


def distance(x: np.ndarray, y: np.ndarray, bandwidth: list[float]) -> np.ndarray:
    difference = (x.astype(float)[:, None] - y.astype(float)[None, :]) / bandwidth
    return np.sqrt((difference**2).sum(axis=2))
