"""Bad input is refused before any environment step, by an error that names what came."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Text
from stable_baselines3.common.vec_env import DummyVecEnv

from powr import POWR
from tests.powr.contract import assert_setting_is_refused
from tests.powr.environments import Untouchable

NAN, INF = float("nan"), float("inf")


def untouchable(observation_space=None, action_space=None):
    return Untouchable(observation_space or Box(-1.0, 1.0, (2,)), action_space or Discrete(3))


# -- environments ---------------------------------------------------------------------------------


MIXED = Dict({"x": Discrete(2), "y": Box(-1.0, 1.0, (2,))})
ENVIRONMENTS = [
    (untouchable(action_space=MultiBinary(3)), ValueError, "action space must be Discrete"),
    (untouchable(MIXED), ValueError, r"Box, Discrete.*: flatten it with .*Flatten"),
    (untouchable(Text(5)), ValueError, "Text"),
    (untouchable(Box(0, 255, (84, 84, 3), np.uint8)), ValueError, r"features.* by .*Transform"),
    (untouchable(Box(-1.0, 1.0, (3, 0))), ValueError, r"has 0 dimensions.* Discrete\(1\)"),
    (DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]), TypeError, "give one of them"),
    (gymnasium.make_vec("CartPole-v1", num_envs=2), TypeError, "give one of them"),
    ({"id": "CartPole-v1"}, TypeError, r"gymnasium\.Env or the id of one, got"),
]


@pytest.mark.parametrize(("env", "error", "message"), ENVIRONMENTS)
def test_an_environment_must_have_spaces_that_the_agent_knows(env, error, message):
    with pytest.raises(error, match=message):
        POWR(env)


def test_arguments_of_an_environment_are_sent_to_gymnasium_make():
    with pytest.raises(TypeError, match=r"no setting is_slippery: .*gymnasium\.make"):
        POWR("FrozenLake-v1", is_slippery=False)


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("gamma", 1.0, ValueError),
        ("gamma", NAN, ValueError),
        ("gamma", "0.9", TypeError),
        ("step_size", INF, ValueError),
        ("mirror_steps", 0, ValueError),
        ("mirror_steps", 10**30, ValueError),
        ("mirror_steps", True, TypeError),
        ("mirror_steps", 1.5, TypeError),
        ("regularization", 0.0, ValueError),
        ("seed", -1, ValueError),
        ("kernel", "Gaussian", TypeError),
        ("episodes_per_epoch", 0, ValueError),
        ("restart", 1, TypeError),
        ("method", "subset", ValueError),
        ("max_rank", None, TypeError),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name, value, error):
    assert_setting_is_refused(POWR, untouchable(Discrete(4)), name, value, error)


# -- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("total", "error"), [(0, ValueError), (1.5, TypeError), ("10", TypeError)])
def test_total_timesteps_must_be_a_count(total, error):
    with pytest.raises(error, match=rf"total_timesteps must .*got {re.escape(repr(total))}"):
        POWR(untouchable()).learn(total)


@pytest.mark.parametrize(
    ("observation", "error", "message"),
    [
        ([0.1, 0.2, 0.3], ValueError, r"shape \(2,\) or \(n, 2\), got \(3,\)"),
        (np.zeros((2, 2, 2)), ValueError, r"got \(2, 2, 2\)"),
        (0.5, ValueError, r"shape \(2,\) or \(n, 2\), got \(\)"),
        ([[0.0, 0.0], [INF, 0.0]], ValueError, "must be finite, got inf at row 1"),
        (None, TypeError, "must be numbers"),
    ],
)
def test_observations_must_fit_the_space(observation, error, message):
    with pytest.raises(error, match=message):
        POWR(untouchable()).predict(observation)


def test_discrete_observations_must_lie_within_their_space():
    agent = POWR(untouchable(Discrete(3, start=-2)))
    for given, named in ((1, 1), ([-2, 0, 2], 2), (0.5, "float64")):
        with pytest.raises(ValueError, match=rf"of Discrete\(3, start=-2\), .* got {named}"):
            agent.predict(given)
    assert agent.action_probabilities([-2, -1, 0]).shape == (3, 3)
