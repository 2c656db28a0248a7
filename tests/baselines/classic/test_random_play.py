"""Random play: uniform on every environment, by each of its faces."""

import gymnasium
import numpy as np
import pytest

from baselines.classic.random_play import RandomPlay

ENVIRONMENTS = ["FrozenLake-v1", "MountainCar-v0", "Blackjack-v1"]


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("deterministic", [True, False])
def test_every_action_is_as_likely_as_the_others(name, deterministic):
    env = gymnasium.make(name)
    agent = RandomPlay(env, seed=0).learn(50)
    observations = np.array([env.reset(seed=i)[0] for i in range(3000)])
    actions, _ = agent.predict(observations, deterministic=deterministic)
    shares = np.bincount(actions, minlength=env.action_space.n) / len(actions)
    np.testing.assert_allclose(shares, 1 / env.action_space.n, atol=0.03)
    np.testing.assert_allclose(agent.action_probabilities(observations), 1 / env.action_space.n)
    assert agent.num_timesteps == 50
