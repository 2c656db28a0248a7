"""The base class of peers for finite observations, with a table of action values."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Tuple
from numpy.typing import ArrayLike, NDArray

from baselines.classic.agent import ClassicAgent


class FiniteAgent(ClassicAgent):
    """An agent whose action values are stored in the table `q`, (n_states, n_actions)."""

    def __init__(self, env: gymnasium.Env, *, seed: int, initial_value: float) -> None:
        super().__init__(env, seed=seed)
        space = env.observation_space
        parts = space.spaces if isinstance(space, Tuple) else (space,)
        if not all(isinstance(part, Discrete) for part in parts):
            raise ValueError(
                f"{type(self).__name__} needs finitely many observations, but the observation "
                f"space is {space}: choose an environment whose observations are Discrete or a "
                "Tuple of such, or a peer for boxes (sarsa_lambda, lspi, cme_value_iteration)"
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
