"""Peers for finitely many observations: their values are a table."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import ArrayLike, NDArray

from baselines.classic.agent import ClassicAgent


class FiniteAgent(ClassicAgent):
    """An agent whose action values are the table `q`, (n_states, n_actions)."""

    def __init__(self, env: gymnasium.Env, *, seed: int, initial_value: float) -> None:
        super().__init__(env, seed=seed)
        if not isinstance(env.observation_space, Discrete):
            raise ValueError(
                f"{type(self).__name__} needs finitely many observations, but the observation "
                f"space is {env.observation_space}: choose an environment whose observations are "
                "Discrete, or a peer for boxes (sarsa_lambda, lspi, cme_value_iteration)"
            )
        self.n_states = int(env.observation_space.n)
        self.q = np.full((self.n_states, self.n_actions), float(initial_value))

    def _encode(self, observations: ArrayLike) -> NDArray:
        return np.asarray(observations) - self._space.start

    def _values(self, states: NDArray) -> NDArray:
        return self.q[states]
