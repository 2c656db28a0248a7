"""Decisions that end an episode, to develop on: a bandit, and a price to sell at."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

HOLD, SELL = 0, 1


class Choice(gymnasium.Env):
    """A context in the square, one of two actions is right and pays 1; every step terminates.

    `end` is what is observed after the step: the "same" context, "zeros", or "another" context.
    """

    def __init__(self, end: str = "same"):
        self.observation_space, self.action_space = Box(-1.0, 1.0, (2,), np.float64), Discrete(2)
        self.end = end

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.context = self.np_random.uniform(-1.0, 1.0, 2)
        return self.context.copy(), {}

    @staticmethod
    def right(contexts):
        return (contexts[..., 0] + 0.5 * contexts[..., 1] > 0.2).astype(int)

    def step(self, action):
        paid = float(action == self.right(self.context))
        ends = {
            "same": self.context,
            "zeros": np.zeros(2),
            "another": self.np_random.uniform(-1.0, 1.0, 2),
        }
        return ends[self.end].copy(), paid, True, False, {}


class Sale(gymnasium.Env):
    """A price wanders about 0; selling pays the next price and ends the episode; 40 steps at most.

    Observations are the price and, where `shows_time`, the share of the time that is left.
    """

    limit = 40

    def __init__(self, shows_time: bool = True):
        self.observation_space = Box(-10.0, 10.0, (1 + shows_time,), np.float64)
        self.action_space, self.shows_time = Discrete(2), shows_time

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.price, self.time = self.np_random.normal(0.0, 0.2), 0
        return self.observation(), {}

    def observation(self):
        return np.array([self.price, 1.0 - self.time / self.limit][: 1 + self.shows_time])

    def step(self, action):
        self.price = 0.9 * self.price + self.np_random.normal(0.0, 0.2)
        self.time += 1
        paid = float(self.price) if action == SELL else 0.0
        return self.observation(), paid, action == SELL, self.time == self.limit, {}


def mean_return(env, policy, episodes):
    total = 0.0
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total += reward
            over = terminated or truncated
    return total / episodes
