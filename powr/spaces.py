"""What POWR accepts of an environment, and the kernel that suits its observations."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from numpy.typing import NDArray

from powr.kernels import Dirac, Exponential, Kernel

# Bandwidths are this fraction of the range of a dimension.
_FRACTION_OF_RANGE = 1 / 3

# Bounds beyond this stand for "unbounded", as the largest single-precision number does.
_LARGEST_BOUND = 1e30


def make_env(env: gymnasium.Env | str) -> gymnasium.Env:
    """The environment itself, or the registered one of that id."""
    if isinstance(env, str):
        return gymnasium.make(env)
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"env must be a gymnasium.Env or the id of one, got {env!r}")
    return env


def check_spaces(env: gymnasium.Env) -> None:
    if not isinstance(env.action_space, Discrete):
        raise ValueError(
            f"the action space must be Discrete, got {env.action_space}: "
            "POWR needs finitely many actions"
        )
    space = env.observation_space
    if not (isinstance(space, Discrete) or (isinstance(space, Box) and len(space.shape) == 1)):
        raise ValueError(
            f"the observation space must be Discrete or a one-dimensional Box, got {space}: "
            "flatten it with gymnasium.wrappers.FlattenObservation"
        )


def default_kernel(space: Space, states: NDArray) -> Kernel:
    """Dirac on a finite space, else exponential with bandwidths from bounds or from the data."""
    if isinstance(space, Discrete):
        return Dirac()
    low, high = (bound.astype(float) for bound in (space.low, space.high))
    bounded = (low > -_LARGEST_BOUND) & (high < _LARGEST_BOUND)
    spread = np.where(bounded, high - np.where(bounded, low, 0.0), np.ptp(states, axis=0))
    return Exponential(np.where(spread > 0, spread * _FRACTION_OF_RANGE, 1.0))
