"""At home among its peers: stable-baselines3's evaluation, scikit-learn's clone, typed wheels."""

import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Dict, Discrete, MultiDiscrete
from setuptools import build_meta
from sklearn.base import clone
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from powr import POWR
from powr.kernels import Exponential, Gaussian
from powr.world_model import WorldModel
from tests.powr.environments import Corridor
from tests.powr.test_spaces import Disguised

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore:Evaluation environment is not wrapped:UserWarning")


# -- stable-baselines3 ----------------------------------------------------------------------------


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=60)


def told():
    space = Dict({"half": Discrete(2), "place": MultiDiscrete([5])})
    return Disguised(space, lambda i: {"half": i // 5, "place": np.array([i % 5])})


TRAINED = {"finite": (lake, 1000), "box": (car, 200), "Dict": (told, 200)}


@pytest.mark.parametrize("wrap", [lambda make: make(), lambda make: DummyVecEnv([make] * 3)])
@pytest.mark.parametrize(("make", "timesteps"), TRAINED.values(), ids=TRAINED)
def test_evaluate_policy_takes_an_agent(make, timesteps, wrap):
    agent = POWR(make(), seed=1000).learn(timesteps)
    returns, lengths = evaluate_policy(
        agent, wrap(make), n_eval_episodes=6, return_episode_rewards=True
    )
    assert len(returns) == len(lengths) == 6
    if make is lake:
        assert returns == [1.0] * 6
        assert lengths == [6] * 6


def test_evaluate_policy_can_sample():
    agent = POWR("CartPole-v1", seed=1000)  # untrained: every action alike
    mean, spread = evaluate_policy(
        agent, gymnasium.make("CartPole-v1"), n_eval_episodes=30, deterministic=False
    )
    assert 15 < mean < 30
    assert spread > 0


def test_evaluating_in_the_training_environment_changes_nothing():
    env, untouched = lake(), POWR(lake(), seed=1000).learn(300)
    agent = POWR(env, seed=1000)
    for _ in range(3):
        agent.learn(100)
        evaluate_policy(agent, env, n_eval_episodes=2)
    assert agent.episode_returns == untouched.episode_returns
    np.testing.assert_array_equal(
        agent.action_probabilities(range(16)), untouched.action_probabilities(range(16))
    )


def test_predict_has_the_signature_and_the_default_of_stable_baselines3():
    agent = POWR(Corridor())
    memory = object()
    action, state = agent.predict(3, memory, np.array([True]), True)
    assert (action, state) == (0, memory)
    sampled = {int(agent.predict(3)[0]) for _ in range(50)}
    assert sampled == {0, 1}


# -- scikit-learn ---------------------------------------------------------------------------------

DATA = (
    np.array([[0.0], [1.0], [2.0]]),
    np.array([0, 1, 0]),
    np.array([1.0, 0.0, 2.0]),
    np.array([[1.0], [2.0], [0.0]]),
    np.array([False, False, True]),
)


def test_a_clone_has_the_parameters_and_nothing_of_the_data():
    model = WorldModel(Exponential([0.5]), 2, regularization=0.1, method="low_rank", prior=-3.0)
    fitted = model.fit(*DATA)
    twin = clone(fitted)
    assert twin.get_params() == model.get_params()
    assert twin.kernel is not model.kernel
    assert not hasattr(twin, "parameters_")
    np.testing.assert_array_equal(twin.fit(*DATA).reward(DATA[0]), fitted.reward(DATA[0]))


def test_parameters_set_take_effect_with_the_next_fit():
    model = WorldModel(Exponential(0.5), 2).fit(*DATA)
    before = model.reward(DATA[0])
    assert model.set_params(kernel=Gaussian(3.0), regularization=1.0) is model
    np.testing.assert_array_equal(model.reward(DATA[0]), before)
    expected = WorldModel(Gaussian(3.0), 2, regularization=1.0).fit(*DATA).reward(DATA[0])
    np.testing.assert_array_equal(model.fit(*DATA).reward(DATA[0]), expected)


def test_an_unknown_parameter_is_named():
    with pytest.raises(ValueError, match=r"no parameter bandwidth: it has kernel, n_actions, .*"):
        WorldModel(Exponential(0.5), 2).set_params(bandwidth=3)


# -- the wheel ------------------------------------------------------------------------------------


def test_the_wheel_holds_every_module_and_its_types(tmp_path, monkeypatch):
    """Built from a copy, since setuptools leaves its workings beside what it builds."""
    source = tmp_path / "source"
    for path in [*(ROOT / "powr").rglob("*"), *map(ROOT.joinpath, ("pyproject.toml", "README.md"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    monkeypatch.chdir(source)
    (tmp_path / "wheel").mkdir()
    name = build_meta.build_wheel(str(tmp_path / "wheel"))
    with zipfile.ZipFile(tmp_path / "wheel" / name) as wheel:
        held = {each for each in wheel.namelist() if each.startswith("powr/")}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "powr").rglob("*.py")}
    assert held == modules | {"powr/py.typed"}
