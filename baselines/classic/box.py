"""Peers for observations in a box, which they see scaled to the unit cube."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import ArrayLike, NDArray

from baselines.classic.agent import ClassicAgent

# Bounds beyond this stand for "unbounded", as the largest single-precision number does.
_LARGEST_BOUND = 1e30


class BoxAgent(ClassicAgent):
    """An agent whose states are points of the unit cube, (n_dimensions,)."""

    def __init__(self, env: gymnasium.Env, *, seed: int) -> None:
        super().__init__(env, seed=seed)
        space = env.observation_space
        if not isinstance(space, Box) or len(space.shape) != 1:
            raise ValueError(
                f"{type(self).__name__} needs observations in a one-dimensional Box, but the "
                f"observation space is {space}: flatten it with "
                "gymnasium.wrappers.FlattenObservation, or choose a peer for finite environments "
                "(rmax, dyna_q, optimistic_q, psrl)"
            )
        self._low, high = space.low.astype(float), space.high.astype(float)
        unbounded = (self._low < -_LARGEST_BOUND) | (high > _LARGEST_BOUND)
        if unbounded.any():
            raise ValueError(
                f"{type(self).__name__} needs a bounded observation space, but dimension "
                f"{int(unbounded.argmax())} of {space} has no bounds: give it some with "
                "gymnasium.wrappers.TransformObservation"
            )
        self.n_dimensions = len(self._low)
        self._range = np.where(high > self._low, high - self._low, 1.0)

    def _encode(self, observations: ArrayLike) -> NDArray:
        return np.clip((np.asarray(observations, float) - self._low) / self._range, 0.0, 1.0)
