"""How POWR learns: the contract of every agent, epochs, failing solves, warnings, defaults."""

import sys
import warnings

import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.callbacks import EvalCallback

from powr import POWR
from powr.kernels import Dirac, Exponential, Gaussian
from powr.solvers.empirical_mdp import EmpiricalMDP
from tests.powr.contract import AgentContract
from tests.powr.environments import Corridor, Paid, probabilities
from tests.support.hostile_environments import OldReset, OldStep


class TestPOWR(AgentContract):
    cls = POWR
    parts = (("powr.data.Counts.add", False), ("powr.world_model.WorldModel.solve", True))


# -- epochs ---------------------------------------------------------------------------------------


def test_an_epoch_collects_so_many_episodes_and_learns_from_all_transitions():
    agent, fitted = POWR(Corridor(), episodes_per_epoch=3), []
    agent.learn(70, lambda agent: fitted.append(agent.model_.n_transitions_ if agent.model_ else 0))
    assert fitted == [0] * 29 + [30] * 30 + [60] * 11
    assert agent.model_.n_transitions_ == 70


def test_a_callback_that_stops_leaves_the_rest_to_the_next_call():
    agent = POWR(Corridor(), seed=1000).learn(100, lambda agent: agent.num_timesteps < 25)
    assert agent.model_.n_transitions_ == 20
    assert agent.learn(3).model_.n_transitions_ == 28


def test_what_is_no_callback_is_refused_before_any_step():
    agent = POWR(Corridor())
    with pytest.raises(TypeError, match=r"callback must be a function .*stable-baselines3 need"):
        agent.learn(10, callback=EvalCallback(gymnasium.make("FrozenLake-v1")))
    assert agent.env.n_resets == 0


def test_the_progress_bar_shows_timesteps_last_return_and_plans(monkeypatch, capsys):
    agent = POWR(Corridor()).learn(60, progress_bar=True)
    shown = f"60 [00:00], return {agent.episode_returns[-1]:.4g}, plans 6"
    assert capsys.readouterr().err.rstrip().endswith(shown)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"needs tqdm: pip install tqdm"):
        agent.learn(10, progress_bar=True)


def test_a_solve_that_fails_is_an_error_with_a_remedy_and_leaves_the_policy(monkeypatch):
    agent = POWR(Corridor(), seed=1000).learn(30)
    before = probabilities(agent)
    with monkeypatch.context() as patch:
        patch.setattr(EmpiricalMDP, "solve", lambda *_: np.full((10, 2), np.nan))
        with pytest.raises(np.linalg.LinAlgError, match=r"not finite at gamma 0.99.*: raise the r"):
            agent.learn(30)
    np.testing.assert_array_equal(probabilities(agent), before)
    assert agent.num_timesteps == 40
    assert agent.learn(30).n_plans_ == 6


# -- health ---------------------------------------------------------------------------------------


def test_values_beyond_what_rewards_allow_are_recorded_and_warned_about_once():
    agent = POWR("MountainCar-v0", kernel=Gaussian([0.1, 0.01]), mirror_steps=10, seed=1000)
    with pytest.warns(UserWarning, match="action values lie beyond") as caught:
        agent.learn(1000).learn(200)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert set(agent.health_) == {"overshoot"}
    assert agent.n_overshoots_ >= 2
    assert agent.worst_overshoot_ > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = POWR("MountainCar-v0", mirror_steps=10, seed=1000).learn(600)
    assert agent.n_overshoots_ == 0
    assert agent.worst_overshoot_ < 0.25
    assert agent.health_ == {}


def test_an_agent_says_when_it_never_learned_or_all_returns_are_equal():
    with pytest.warns(UserWarning, match="uniform") as caught:
        agent = POWR(Corridor()).learn(60, callback=lambda _: False)
    assert [warning.filename for warning in caught] == [__file__]
    assert set(agent.health_) == {"no_epoch"}
    with pytest.warns(UserWarning, match="all 10 episodes"):
        agent = POWR(Paid(1.0)).learn(100)
    assert set(agent.health_) == {"equal_returns"}


@pytest.mark.parametrize("env", [OldReset, OldStep])
def test_an_environment_of_the_older_gym_is_told_how_to_change(env):
    with pytest.raises(ValueError, match=r"returned .* from .* must return .*info.*shimmy"):
        POWR(env()).learn(10)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "MountainCar-v0"])
def test_all_that_reset_returns_is_refused_with_the_mistake(name):
    agent = POWR(name)
    with pytest.raises(ValueError, match=r"as env\.reset\(\) returns it: write `observation, in"):
        agent.predict(agent.env.reset(seed=0))


def test_predict_has_the_signature_and_the_default_of_stable_baselines3():
    agent, memory = POWR(Corridor()), object()
    assert agent.predict(3, memory, np.array([True]), True) == (0, memory)
    assert {int(agent.predict(3)[0]) for _ in range(50)} == {0, 1}  # sampled


def test_a_finite_space_has_the_dirac_kernel_and_a_box_a_third_of_its_range():
    assert POWR("FrozenLake-v1").learn(200).model_.kernel == Dirac()
    kernel = POWR("MountainCar-v0").learn(200).model_.kernel
    assert isinstance(kernel, Exponential)
    np.testing.assert_allclose(kernel.bandwidth, [0.6, 0.14 / 3], rtol=1e-6)


def test_an_unbounded_dimension_has_a_third_of_the_first_epochs_spread():
    agent = POWR("CartPole-v1").learn(150)
    expected = np.ptp(agent.data.columns(0, agent.data.starts[1])[0], axis=0) / 3
    expected[[0, 2]] = 2 * agent.observation_space.high[[0, 2]] / 3
    np.testing.assert_allclose(agent.model_.kernel.bandwidth, expected, rtol=1e-6)
