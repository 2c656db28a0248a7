"""MountainCar-v0 and CartPole-v1 with noise in their transitions.

Before each step Gaussian noise is added to every coordinate of the state, with a standard deviation
of `noise` times its range. Observation and termination depend on the state after the step, as
without noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv

# Full ranges. CartPole-v1 does not bound its two velocities; random play stays within these.
MOUNTAIN_CAR_RANGES = np.array([1.8, 0.14])
CART_POLE_RANGES = np.array([4.8, 4.0, 0.42, 6.0])


class NoisyMountainCar(MountainCarEnv):
    def __init__(self, noise: float, **options: Any) -> None:
        super().__init__(**options)
        self.noise = noise

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.state = self.np_random.normal(self.state, self.noise * MOUNTAIN_CAR_RANGES)
        return super().step(action)


class NoisyCartPole(CartPoleEnv):
    def __init__(self, noise: float, **options: Any) -> None:
        super().__init__(**options)
        self.noise = noise

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.state = self.np_random.normal(self.state, self.noise * CART_POLE_RANGES)
        return super().step(action)
