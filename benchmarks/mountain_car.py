"""MountainCar transitions of a scripted, exploring policy: the data of the speed benchmarks.

The car is pushed the way it moves, which pumps energy into it, but for random pushes whose share is
drawn anew each episode. Episodes thus range from quick climbs to aimless ones, and hardly any state
is seen twice.
"""

from __future__ import annotations

from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

N_ACTIONS = 3


class Transitions(NamedTuple):
    """What `WorldModel.fit` takes, one transition a row."""

    states: NDArray
    actions: NDArray
    rewards: NDArray
    next_states: NDArray
    terminated: NDArray

    def rows(self, rows: slice) -> Transitions:
        return Transitions(*(column[rows] for column in self))


def explore(n: int, seed: int = 0) -> Transitions:
    """The first n transitions of that policy; fewer are the beginning of more."""
    rng = np.random.default_rng(seed)
    env = gymnasium.make("MountainCar-v0", disable_env_checker=True)
    steps: list[tuple] = []
    while len(steps) < n:
        state, _ = env.reset(seed=int(rng.integers(2**31)))
        random_share = rng.uniform(0.1, 0.6)
        done = False
        while not done:
            along = 2 if state[1] >= 0 else 0
            action = int(rng.integers(N_ACTIONS)) if rng.random() < random_share else along
            next_state, reward, ended, truncated, _ = env.step(action)
            steps.append((state.astype(float), action, reward, next_state.astype(float), ended))
            state, done = next_state, ended or truncated
    return Transitions(*map(np.array, zip(*steps[:n], strict=True)))
