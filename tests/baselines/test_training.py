"""Baselines: library defaults, exact budgets, seeds that do what they say."""

import inspect

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from baselines.training import CLASSES, build, learn

SEEDS = {"agent_seed": 1, "training_seed": 2}

names = pytest.mark.parametrize("name", CLASSES)


def never(model: BaseAlgorithm) -> bool:
    return False


def weights(model: BaseAlgorithm) -> torch.Tensor:
    return torch.nn.utils.parameters_to_vector(model.policy.parameters())


@names
def test_stops_exactly_at_the_budget(name):
    model = build(name, "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    seen = []
    learn(model, 333, lambda model: seen.append(model.num_timesteps))
    assert seen == list(range(1, 334))


@names
def test_callback_stops_at_once(name):
    model = build(name, "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    learn(model, 333, lambda model: model.num_timesteps == 17)
    assert model.num_timesteps == 17


@names
def test_first_episode_starts_from_the_training_seed(name):
    starts = []

    class Starts(gymnasium.Wrapper):
        def reset(self, **arguments):
            observation, info = super().reset(**arguments)
            starts.append(observation)
            return observation, info

    env = Starts(gymnasium.make("CartPole-v1"))
    learn(build(name, "MlpPolicy", {}, env, **SEEDS), 1, never)
    expected, _ = gymnasium.make("CartPole-v1").reset(seed=SEEDS["training_seed"])
    np.testing.assert_array_equal(starts[0], expected)


@names
@pytest.mark.parametrize("changed", SEEDS)
def test_each_seed_matters_and_equal_seeds_agree(name, changed):
    def trained(**seeds):
        settings = {"n_steps": 128} if name in ("ppo", "trpo") else {}
        model = build(name, "MlpPolicy", settings, gymnasium.make("CartPole-v1"), **seeds)
        learn(model, 300, never)
        return weights(model)

    assert torch.equal(trained(**SEEDS), trained(**SEEDS))
    assert not torch.equal(trained(**SEEDS), trained(**{**SEEDS, changed: 7}))


@names
def test_settings_left_out_are_the_librarys_defaults(name):
    model = build(name, "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    defaults = {
        key: parameter.default
        for key, parameter in inspect.signature(CLASSES[name]).parameters.items()
        if isinstance(parameter.default, int | float)
    }
    scheduled = {"clip_range", "train_freq"}  # wrapped by the library, see the next test
    compared = {key for key in defaults if hasattr(model, key)} - scheduled
    assert {"learning_rate", "gamma"} <= compared
    assert {key: getattr(model, key) for key in compared} == {
        key: defaults[key] for key in compared
    }


def test_schedules_have_the_librarys_defaults():
    env = gymnasium.make("CartPole-v1")
    ppo = build("ppo", "MlpPolicy", {}, env, **SEEDS)
    assert ppo.clip_range(1.0) == inspect.signature(CLASSES["ppo"]).parameters["clip_range"].default
    dqn = build("dqn", "MlpPolicy", {}, env, **SEEDS)
    expected = inspect.signature(CLASSES["dqn"]).parameters["train_freq"].default
    assert dqn.train_freq.frequency == expected


def test_exploration_of_dqn_is_spread_over_the_budget():
    model = build("dqn", "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    rates = []
    learn(model, 1000, lambda model: rates.append(model.exploration_rate))
    reached = next(step for step, rate in enumerate(rates) if rate == model.exploration_final_eps)
    assert reached == pytest.approx(model.exploration_fraction * 1000, abs=2)


def test_one_thread_on_the_cpu():
    torch.set_num_threads(2)
    model = build("a2c", "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    assert torch.get_num_threads() == 1
    assert model.device.type == "cpu"


@pytest.mark.parametrize("name", ["a2c", "ppo", "trpo"])
def test_a_policy_of_nans_ends_the_training(name):
    model = build(name, "MlpPolicy", {}, gymnasium.make("CartPole-v1"), **SEEDS)
    with torch.no_grad():
        model.policy.action_net.bias.fill_(torch.nan)
    with pytest.raises(RuntimeError, match="nan"):
        learn(model, 10, never)
