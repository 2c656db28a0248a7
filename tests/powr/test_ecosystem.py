"""At home among its peers: stable-baselines3's evaluation, copies, typed wheels."""

import copy
import pickle
import shutil
import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR
from setuptools import build_meta
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from powr import POWR
from tests.powr.environments import KINDS, Corridor, assert_same, probabilities

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore:Evaluation environment is not wrapped:UserWarning")


# -- stable-baselines3 ----------------------------------------------------------------------------


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=60)


@pytest.mark.parametrize("wrap", [lambda make: make(), lambda make: DummyVecEnv([make] * 3)])
@pytest.mark.parametrize(("make", "timesteps"), [(lake, 3000), (car, 200)])
@pytest.mark.parametrize("cls", [POWR, OptimisticPOWR])
def test_evaluate_policy_takes_an_agent(cls, make, timesteps, wrap):
    agent = cls(make(), seed=1000).learn(timesteps)
    returns, lengths = evaluate_policy(
        agent, wrap(make), n_eval_episodes=6, return_episode_rewards=True
    )
    assert len(returns) == len(lengths) == 6
    if make is lake:
        assert returns == [1.0] * 6
        assert lengths == [6] * 6


@pytest.mark.parametrize("cls", [POWR, OptimisticPOWR])
def test_evaluating_in_the_training_environment_changes_nothing(cls):
    """Between two calls of `learn`, each of which starts an episode."""
    env, alone = lake(), cls(lake(), seed=1000)
    agent = cls(env, seed=1000)
    for _ in range(3):
        alone.learn(100)
        agent.learn(100)
        evaluate_policy(agent, env, n_eval_episodes=2)
    assert_same(agent, alone)


def test_predict_has_the_signature_and_the_default_of_stable_baselines3():
    agent = POWR(Corridor())
    memory = object()
    action, state = agent.predict(3, memory, np.array([True]), True)
    assert (action, state) == (0, memory)
    sampled = {int(agent.predict(3)[0]) for _ in range(50)}
    assert sampled == {0, 1}


# -- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
@pytest.mark.parametrize(("cls", "continuous"), KINDS.values(), ids=KINDS)
def test_a_copy_of_an_agent_lives_its_own_life(cls, continuous, duplicate):
    agent = cls(Corridor(continuous=continuous), seed=1000).learn(35)
    before = probabilities(agent)
    twin = duplicate(agent)
    twin.learn(40)
    np.testing.assert_array_equal(probabilities(agent), before)
    assert agent.num_timesteps == 35
    assert_same(agent.learn(40), twin)


# -- the wheel ------------------------------------------------------------------------------------


def test_the_wheel_holds_every_module_and_its_types(tmp_path, monkeypatch):
    """Built from a copy, since setuptools leaves its workings beside what it builds."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "powr", source / "powr", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    monkeypatch.chdir(source)
    (tmp_path / "wheel").mkdir()
    name = build_meta.build_wheel(str(tmp_path / "wheel"))
    with zipfile.ZipFile(tmp_path / "wheel" / name) as wheel:
        held = {each for each in wheel.namelist() if each.startswith("powr/")}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "powr").rglob("*.py")}
    assert held == modules | {"powr/py.typed"}
