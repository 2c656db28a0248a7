"""Environments that misbehave, registered for the tests of what is made of them."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class Walk(gymnasium.Env):
    """Well-behaved: a step to the left or to the right, without end."""

    observation_space = Box(-np.inf, np.inf, (3,), np.float64)
    action_space = Discrete(2)

    def __init__(self, faulty_from: int = 0):
        self.faulty_from = faulty_from
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.zeros(3)
        return self.place, {}

    def step(self, action):
        self.steps += 1
        self.place = self.place + (2 * int(action) - 1)
        if self.steps > self.faulty_from:
            return self.faulty_step()
        return self.place, 1.0, False, False, {}

    def faulty_step(self):
        return self.place, 1.0, False, False, {}


class FailsToStart(Walk):
    def __init__(self):
        raise RuntimeError("no licence\nfor this machine")


class RaisesInReset(Walk):
    def reset(self, *, seed=None, options=None):
        raise RuntimeError("out of order")


class RaisesInStep(Walk):
    def faulty_step(self):
        return {}["missing"]


class NanReward(Walk):
    def faulty_step(self):
        return self.place, float("nan"), False, False, {}


class TextReward(Walk):
    def faulty_step(self):
        return self.place, "one", False, False, {}


class InfiniteObservation(Walk):
    def faulty_step(self):
        return np.array([np.inf, 0.0, 0.0]), 1.0, False, False, {}


class OldStep(Walk):
    """Four values, as before gymnasium."""

    def faulty_step(self):
        return self.place, 1.0, False, {}


class OldReset(Walk):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class ContinuousActions(Walk):
    action_space = Box(-1.0, 1.0, (1,))

    def step(self, action):
        return super().step(0)


FAULTY = (
    FailsToStart,
    RaisesInReset,
    RaisesInStep,
    NanReward,
    TextReward,
    InfiniteObservation,
    OldStep,
    OldReset,
    ContinuousActions,
)
for faulty in FAULTY:
    gymnasium.register(f"{faulty.__name__}-v0", entry_point=faulty, max_episode_steps=20)
gymnasium.register("Endless-v0", entry_point=Walk)
