"""Small environments with known behaviour, and what is asked of agents in them."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


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


class InterruptedStep(Corridor):
    """Ctrl-C before its eighteenth step."""

    def step(self, action):
        if self.n_steps == 17 and not hasattr(self, "interrupted"):
            self.interrupted = True
            raise KeyboardInterrupt
        return super().step(action)


class ByReference(Corridor):
    """Returns its own state array, which the next step overwrites."""

    def observation(self):
        self.array = getattr(self, "array", np.zeros(2))
        self.array[:] = super().observation()
        return self.array


class Disguised(gymnasium.ObservationWrapper):
    """A corridor of ten places, with its place told in other words."""

    def __init__(self, space, tell):
        super().__init__(Corridor())
        self.observation_space, self.tell = space, tell

    def observation(self, observation):
        return self.tell(observation)


class Untouchable(gymnasium.Env):
    """Has spaces and nothing else: a test that resets or steps it fails."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space


PLACES = {False: np.arange(10), True: np.array([[i, np.sin(i)] for i in range(10)])}


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


def assert_whole(agent):
    """Every transition is kept and starts where the one before it in its episode ended."""
    assert agent.num_timesteps == agent.env.n_steps
    states, _, _, next_states, _ = agent.data.columns()
    within = np.setdiff1d(np.arange(1, agent.num_timesteps), agent.data.starts)
    np.testing.assert_array_equal(states[within], next_states[within - 1])
