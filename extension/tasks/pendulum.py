"""Pendulum-v1 with discrete torques."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.spaces import Discrete


class PendulumTorques(PendulumEnv):
    """Actions 0, 1, ... are equally spaced torques from -max_torque to max_torque.

    Args:
        torques: number of torques.
        options: further arguments of PendulumEnv.
    """

    def __init__(self, torques: int, **options: Any) -> None:
        super().__init__(**options)
        self.torques = np.linspace(-self.max_torque, self.max_torque, torques)
        self.action_space = Discrete(torques)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = super().step(self.torques[[action]])
        return observation, float(reward), *rest
