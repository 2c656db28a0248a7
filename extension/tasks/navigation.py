"""Navigation to a goal in the unit square."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


class Navigation(gymnasium.Env):
    """A point moves right, up, left or down until it enters a disc, for a reward of 1; else 0.

    Episodes start uniformly in a square with side 0.2 in the lower left corner. A move that would
    leave the unit square is clipped at its edge; a move that would cross the wall has no effect.

    Args:
        move: length of a move.
        goal: centre of the disc.
        radius: of the disc.
        wall: position and height of a vertical wall, (x, y); None for no wall.
    """

    def __init__(
        self,
        move: float,
        goal: tuple[float, float],
        radius: float,
        wall: tuple[float, float] | None = None,
    ) -> None:
        self.observation_space = Box(0.0, 1.0, (2,), np.float32)
        self.action_space = Discrete(len(DIRECTIONS))
        self.move, self.radius, self.wall = move, radius, wall
        self.goal = np.array(goal)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.position = self.np_random.uniform(0.0, 0.2, 2)
        return self.position.astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        moved = np.clip(self.position + self.move * DIRECTIONS[action], 0.0, 1.0)
        if not self._is_blocked(moved):
            self.position = moved
        reached = bool(np.linalg.norm(self.position - self.goal) <= self.radius)
        return self.position.astype(np.float32), float(reached), reached, False, {}

    def _is_blocked(self, moved: np.ndarray) -> bool:
        if self.wall is None:
            return False
        x, top = self.wall
        crosses = (self.position[0] < x) != (moved[0] < x)
        return bool(crosses and self.position[1] <= top)
