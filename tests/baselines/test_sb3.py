"""Baselines: library defaults, exact budgets, seeds that do what they say."""

import inspect

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch

import baselines
from baselines.sb3 import StableBaseline

SEEDS = {"agent_seed": 1, "training_seed": 2}

names = pytest.mark.parametrize("name", ["a2c", "dqn", "ppo", "trpo"])
# The two loops of training that the libraries have.
loops = pytest.mark.parametrize("name", ["a2c", "dqn"])


def never(agent: StableBaseline) -> None:
    """Only False stops training."""


def build(name: str, env: str = "CartPole-v1", **settings) -> StableBaseline:
    return baselines.find(name)("MlpPolicy", lambda: gymnasium.make(env), **{**SEEDS, **settings})


def weights(agent: StableBaseline) -> torch.Tensor:
    return torch.nn.utils.parameters_to_vector(agent.model.policy.parameters())


def test_is_found_by_its_name():
    assert baselines.find("dqn").model_class is stable_baselines3.DQN
    with pytest.raises(ValueError, match="class dqm is not one of"):
        baselines.find("dqm")


@names
def test_stops_exactly_at_the_budget_or_when_the_callback_says_false(name):
    seen = []
    build(name).learn(333, lambda agent: seen.append(agent.num_timesteps))
    assert seen == list(range(1, 334))
    assert build(name).learn(333, lambda agent: agent.num_timesteps < 17).num_timesteps == 17


@loops
def test_each_seed_matters_and_equal_seeds_agree(name):
    def trained(**seeds):
        return weights(build(name, **seeds).learn(150, never))

    first = trained(**SEEDS)
    assert torch.equal(first, trained(**SEEDS))
    for changed in SEEDS:
        assert not torch.equal(first, trained(**{**SEEDS, changed: 7}))


@names
def test_settings_left_out_are_the_librarys_defaults(name):
    model = build(name).model
    parameters = inspect.signature(type(model)).parameters.values()
    defaults = {each.name: each.default for each in parameters if hasattr(model, each.name)}
    numbers = {key: value for key, value in defaults.items() if isinstance(value, int | float)}
    compared = numbers.keys() - {"clip_range", "train_freq"}  # wrapped by the library
    assert {"learning_rate", "gamma"} <= compared
    assert {key: getattr(model, key) for key in compared} == {key: numbers[key] for key in compared}


def test_a_linear_schedule_falls_to_0_at_the_end_of_the_budget():
    settings = {"learning_rate": "lin_0.001", "clip_range": "lin_0.2", "n_steps": 64}
    agent = build("ppo", **settings, batch_size=64, n_epochs=1)
    rates = []
    agent.learn(640, lambda agent: rates.append(agent.model.policy.optimizer.param_groups[0]["lr"]))
    # Updates follow each rollout of 64 timesteps; the last is cut off with the budget.
    assert rates[64] == pytest.approx(0.9 * 0.001)
    assert rates[-1] == pytest.approx(0.1 * 0.001)
    assert agent.model.clip_range(0.5) == pytest.approx(0.1)


@pytest.mark.parametrize("schedule", [None, 4000])
def test_exploration_of_dqn_is_spread_over_the_budget_or_the_one_of_its_schedule(schedule):
    agent = build("dqn", schedule_timesteps=schedule)
    rates = []
    agent.learn(1000, lambda agent: rates.append(agent.model.exploration_rate))
    assert len(rates) == 1000
    reached = next(n for n, rate in enumerate(rates) if rate == agent.model.exploration_final_eps)
    assert reached == pytest.approx(agent.model.exploration_fraction * (schedule or 1000), abs=2)


def test_normalized_observations_are_scaled_in_evaluation_by_the_statistics_of_training():
    agent = build("a2c", env="MountainCar-v0", n_envs=4, normalize=True).learn(400, never)
    statistics = agent.model.get_env().obs_rms
    states = np.array([[-0.5, 0.02], [0.3, -0.04]], np.float32)
    scaled = (states - statistics.mean) / np.sqrt(statistics.var + 1e-8)
    before = statistics.count
    expected, _ = agent.model.predict(scaled.astype(np.float32), deterministic=True)
    np.testing.assert_array_equal(agent.predict(states)[0], expected)
    assert statistics.count == before


@names
def test_sampled_actions_have_the_probabilities_it_says(name):
    agent = build(name, env="FrozenLake-v1").learn(200, never)
    states = np.arange(16)
    probabilities = agent.action_probabilities(states)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    greedy, _ = agent.predict(states, deterministic=True)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), greedy)
    drawn, n_draws = np.zeros(4), 1000
    for _ in range(n_draws):
        drawn[agent.predict(states[3], deterministic=False)[0]] += 1 / n_draws
    np.testing.assert_allclose(drawn, probabilities[3], atol=0.08)


def test_training_is_on_one_thread_and_a_policy_of_nans_ends_it():
    agent = build("a2c")
    assert (torch.get_num_threads(), agent.model.device.type) == (1, "cpu")
    with torch.no_grad():
        agent.model.policy.action_net.bias.fill_(torch.nan)
    with pytest.raises(RuntimeError, match="nan"):
        agent.learn(10, never)
