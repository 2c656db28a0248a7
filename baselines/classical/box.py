"""The base classes of baselines for Box observations, which are scaled to the unit cube."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import ArrayLike, NDArray

from baselines.classical.agent import ClassicalAgent, Step, check_constant

# Bounds beyond this stand for "unbounded", as the largest single-precision number does.
_LARGEST_BOUND = 1e30


class BoxAgent(ClassicalAgent):
    """An agent whose states are points of the unit cube, (n_dimensions,).

    Args:
        bounds: lower and upper bound of each dimension, instead of those of the observation space;
            observations outside are clipped.
    """

    def __init__(
        self, env: gymnasium.Env, *, seed: int, bounds: Sequence[Sequence[float]] | None = None
    ) -> None:
        super().__init__(env, seed=seed)
        space = env.observation_space
        if not isinstance(space, Box) or len(space.shape) != 1:
            raise ValueError(
                f"{type(self).__name__} needs observations in a one-dimensional Box, but the "
                f"observation space is {space}: flatten it with "
                "gymnasium.wrappers.FlattenObservation, or choose a baseline for finite "
                "environments (rmax, dyna_q, optimistic_q, psrl)"
            )
        ends = (space.low, space.high) if bounds is None else np.transpose(bounds)
        self._low, high = np.asarray(ends, float)
        if self._low.shape != space.shape:
            raise ValueError(
                f"bounds has the shape {np.shape(bounds)}, but the observation space is {space}: "
                f"give {space.shape[0]} pairs of a lower and an upper end"
            )
        unbounded = (self._low < -_LARGEST_BOUND) | (high > _LARGEST_BOUND)
        if unbounded.any():
            raise ValueError(
                f"{type(self).__name__} needs a bounded observation space, but dimension "
                f"{int(unbounded.argmax())} of {space} has no bounds: give `bounds` to lspi or "
                "cme_value_iteration, or bound it with gymnasium.wrappers.TransformObservation"
            )
        self.n_dimensions = len(self._low)
        self._range = np.where(high > self._low, high - self._low, 1.0)

    def _encode(self, observations: ArrayLike) -> NDArray:
        return np.clip((np.asarray(observations, float) - self._low) / self._range, 0.0, 1.0)


class BatchAgent(BoxAgent):
    """An agent that plans at the end of an episode if its data have grown by a factor 1 + `growth`.

    A subclass implements `_store` and `_plan`.
    """

    def __init__(self, env: gymnasium.Env, *, seed: int, growth: float, **options: Any) -> None:
        super().__init__(env, seed=seed, **options)
        self.growth = check_constant("growth", growth, 0)
        self._n_planned = 0

    def _update(self, step: Step) -> None:
        n_stored = self._store(step)
        grown = n_stored > (1 + self.growth) * self._n_planned
        if grown and (step.terminated or step.truncated):
            self._plan()
            self._n_planned = n_stored

    @abstractmethod
    def _store(self, step: Step) -> int:
        """Add the step to the data, and return how many points are stored."""

    @abstractmethod
    def _plan(self) -> None:
        """Compute action values from the data."""
