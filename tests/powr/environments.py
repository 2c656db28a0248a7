"""Small environments with known behaviour, and agents in them."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from optimistic_powr import OptimisticPOWR
from optimistic_powr.displacement import DisplacementModel

from powr import POWR


class Corridor(gymnasium.Env):
    """Walk a line of places, from a random one; every episode is truncated after `length` steps.

    Actions are numbered from `start`, and others are refused. Moving right pays the place reached.
    """

    def __init__(self, length: int = 10, start: int = 0, continuous: bool = False):
        self.length, self.continuous = length, continuous
        self.action_space = Discrete(2, start=start)
        self.observation_space = Box(-1.0, 10.0, (2,), np.float64) if continuous else Discrete(10)
        self.n_steps = self.n_resets = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = int(self.np_random.integers(10)), 0
        self.n_resets += 1
        return self.observation(), {}

    def step(self, action):
        assert action in self.action_space, action
        direction = 2 * (action - self.action_space.start) - 1
        self.place = int(np.clip(self.place + direction, 0, 9))
        self.time += 1
        self.n_steps += 1
        reward = float(self.place) if direction == 1 else 0.0
        return self.observation(), reward, False, self.time == self.length, {}

    def observation(self):
        if self.continuous:
            return np.array([self.place, np.sin(self.place)])
        return self.place


class Broken(Corridor):
    """A corridor that at one step of its life returns what it must not."""

    def __init__(self, at_step=None, continuous=True, **fault):
        super().__init__(continuous=continuous)
        self.at_step, self.fault = at_step, fault

    def step(self, action):
        observation, reward, *rest = super().step(action)
        if self.n_steps == self.at_step:
            observation = self.fault.get("observation", observation)
            reward = self.fault.get("reward", reward)
        return observation, reward, *rest


class Paid(Corridor):
    """A corridor with one reward for every step, or one told from that of the corridor."""

    def __init__(self, reward, **options):
        super().__init__(**options)
        self.reward = reward if callable(reward) else lambda _: reward

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, self.reward(reward), *rest


class Untouchable(gymnasium.Env):
    """Has spaces and nothing else: a test that resets or steps it fails."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space


PLACES = {False: np.arange(10), True: np.array([[i, np.sin(i)] for i in range(10)])}

# Class, and whether observations are a box.
KINDS = {
    "POWR, finite": (POWR, False),
    "POWR, box": (POWR, True),
    "OptimisticPOWR, finite": (OptimisticPOWR, False),
    "OptimisticPOWR, box": (OptimisticPOWR, True),
}


def linear_system(n=300):
    """Transitions of x' = A x + b_a, ended where |x_1| passes 0.85, every step paid -1; A; b."""
    rng = np.random.default_rng(1000)
    matrix = np.array([[0.95, 0.1], [-0.1, 0.9]])
    pushes = np.array([[0.1, 0.0], [-0.1, 0.05]])
    states = rng.uniform([-0.85, -1.0], [0.85, 1.0], (n, 2))
    actions = rng.integers(2, size=n)
    next_states = states @ matrix.T + pushes[actions]
    terminated = np.abs(next_states[:, 0]) > 0.85
    return (states, actions, -np.ones(n), next_states, terminated), matrix, pushes


def displacement_model(columns, **settings):
    limits = {"gamma": 0.9, "prior": 0.0, "value_range": (-10.0, 0.0)}
    return DisplacementModel(columns, 2, **limits, **settings)


def probabilities(agent):
    """The policy at every place of the corridor."""
    return agent.action_probabilities(PLACES[agent.data.state_shape != ()])


def assert_same(agent, other):
    """The same data and policy to the bit."""
    for column, expected in zip(agent.data.columns(), other.data.columns(), strict=True):
        np.testing.assert_array_equal(column, expected)
    np.testing.assert_array_equal(agent.data.ended, other.data.ended)
    starts = [
        {start for start in each.data.starts if start < each.data.size} for each in (agent, other)
    ]
    assert starts[0] == starts[1]
    assert agent.episode_returns == other.episode_returns
    assert agent.n_plans_ == other.n_plans_
    observations = agent.data.columns()[0][-200:]
    np.testing.assert_array_equal(
        agent.action_probabilities(observations), other.action_probabilities(observations)
    )
