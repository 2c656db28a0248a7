"""Pendulum-v1 with finitely many torques."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.spaces import Discrete


class PendulumTorques(PendulumEnv):
    """Actions 0, 1, ... are torques at equal distances, from the largest one way to the other.

    Args:
        torques: how many there are.
        options: of PendulumEnv.
    """

    def __init__(self, torques: int, **options: Any) -> None:
        super().__init__(**options)
        self.torques = np.linspace(-self.max_torque, self.max_torque, torques)
        self.action_space = Discrete(torques)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = super().step(self.torques[[action]])
        return observation, float(reward), *rest
