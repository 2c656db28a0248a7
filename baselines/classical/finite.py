"""What the baselines for finite observations share: action values, counts, and the planner."""

from __future__ import annotations

from collections import Counter

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Tuple
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from baselines.classical.agent import ClassicalAgent, Step

# Sweeps end once no value changes by more than this; the remaining error is at most
# _TOLERANCE * gamma / (1 - gamma).
_TOLERANCE = 1e-6


class FiniteAgent(ClassicalAgent):
    """An agent whose action values are stored in the table `q`, (n_states, n_actions)."""

    def __init__(self, env: gymnasium.Env, *, seed: int, initial_value: float) -> None:
        super().__init__(env, seed=seed)
        space = env.observation_space
        parts = space.spaces if isinstance(space, Tuple) else (space,)
        if not all(isinstance(part, Discrete) for part in parts):
            raise ValueError(
                f"{type(self).__name__} needs finitely many observations, but the observation "
                f"space is {space}: choose an environment whose observations are Discrete or a "
                "Tuple of such, or a baseline for boxes (sarsa_lambda, lspi, cme_value_iteration)"
            )
        self._starts, self._sizes = np.array([(part.start, part.n) for part in parts]).T
        self.n_states = int(self._sizes.prod())
        self.q = np.full((self.n_states, self.n_actions), float(initial_value))

    def _encode(self, observations: ArrayLike) -> NDArray:
        if not self._shape:
            return np.asarray(observations) - self._starts[0]
        digits = np.asarray(observations) - self._starts
        return np.ravel_multi_index(np.moveaxis(digits, -1, 0), self._sizes)

    def _values(self, states: NDArray) -> NDArray:
        return self.q[states]


class CountModel:
    """Visits and summed rewards, (n_states, n_actions), and the counts of next states.

    The next state of a terminated step is n_states, an outcome like any other, but with value 0.
    """

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.n_states = n_states
        self.visits = np.zeros((n_states, n_actions), int)
        self.reward_sums = np.zeros((n_states, n_actions))
        self._outcomes: Counter[tuple[int, int]] = Counter()

    def add(self, step: Step) -> None:
        self.visits[step.state, step.action] += 1
        self.reward_sums[step.state, step.action] += step.reward
        pair = int(step.state) * self.visits.shape[1] + step.action
        self._outcomes[pair, self.n_states if step.terminated else int(step.next_state)] += 1

    def outcomes(self) -> tuple[NDArray, NDArray, NDArray]:
        """Pair, next state and count of every observed outcome; pairs are s * n_actions + a."""
        pairs, next_states = np.array(list(self._outcomes), int).reshape(-1, 2).T
        return pairs, next_states, np.array(list(self._outcomes.values()), float)


def value_iteration(
    transitions: sparse.csr_array, rewards: NDArray, gamma: float, values: NDArray
) -> NDArray:
    """The optimal action values of a model, (n_states, n_actions), by sweeps from `values`.

    Args:
        transitions: (n_states * n_actions, n_states); rows sum to 1 minus the probability of
            termination.
        rewards: (n_states, n_actions), expected.
        values: (n_states,), the initial values; closer ones need fewer sweeps.
    """
    while True:
        action_values = rewards + gamma * (transitions @ values).reshape(rewards.shape)
        improved = action_values.max(axis=1)
        if np.abs(improved - values).max() <= _TOLERANCE:
            return action_values
        values = improved
