"""The contract of `learn` and `predict`, for POWR and its extension alike."""

import sys
import warnings
from pkgutil import resolve_name

import gymnasium
import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR
from stable_baselines3.common.callbacks import EvalCallback

from powr import POWR
from powr import environment as interface
from powr.episodes import rollout
from powr.kernels import Dirac, Exponential, Gaussian
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.tabular import TabularMDP, greedy_policy
from tests.powr.environments import (
    KINDS,
    PLACES,
    Broken,
    Corridor,
    Paid,
    assert_same,
    probabilities,
)
from tests.support.hostile_environments import OldReset, OldStep

both = pytest.mark.parametrize("cls", [POWR, OptimisticPOWR])


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def make(request):
    """A maker of agents, in a corridor or in a variant of it."""
    cls, continuous = request.param

    def make(env=Corridor, seed=1000, **options):
        return cls(env(continuous=continuous, **options), seed=seed)

    return make


# -- training to a return -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "timesteps", "is_slippery", "least"),
    [
        (POWR, 3000, False, 1.0),
        (OptimisticPOWR, 500, False, 1.0),
        (OptimisticPOWR, 4000, True, 0.7),
    ],
)
def test_the_way_across_the_lake_is_found(cls, timesteps, is_slippery, least):
    env = gymnasium.make("FrozenLake-v1", is_slippery=is_slippery)
    agent = cls(env, seed=1000).learn(timesteps)
    greedy = greedy_policy(agent.action_probabilities(range(16)))
    assert TabularMDP.from_env(env).expected_return(greedy) >= least


def test_optimistic_powr_drives_up_the_mountain():
    agent = OptimisticPOWR("MountainCar-v0", seed=1000).learn(2000)
    env = gymnasium.make("MountainCar-v0")
    returns = [list(rollout(agent, env, seed=seed))[-1].return_so_far for seed in range(5)]
    assert np.mean(returns) > -140


# -- timesteps, episodes, epochs ------------------------------------------------------------------


@pytest.mark.parametrize("total", [1, 10, 2e1, np.int64(57)])
def test_learn_takes_exactly_the_steps_asked_for(make, total):
    agent = make()
    assert agent.learn(total) is agent
    assert agent.num_timesteps == agent.env.n_steps == total
    assert len(agent.episode_returns) == total // 10


def test_each_call_starts_an_episode_and_keeps_that_left_open(make):
    agent = make().learn(15).learn(15)
    assert agent.data.starts == [0, 10, 15, 25]
    assert agent.env.n_resets == 4
    assert agent.data.ended.nonzero()[0].tolist() == [9, 24]
    rewards = agent.data.columns()[2]
    assert agent.episode_returns == [rewards[:10].sum(), rewards[15:25].sum()]
    assert_same(agent, make().learn(15).learn(15))


def test_an_epoch_collects_so_many_episodes_and_learns_from_all_transitions():
    agent, fitted = POWR(Corridor(), episodes_per_epoch=3), []
    for _ in range(7):
        agent.learn(10)
        fitted.append(0 if agent.model_ is None else agent.model_.n_transitions_)
    assert fitted == [0, 0, 30, 30, 30, 60, 60]


@pytest.mark.parametrize("restart", [False, True])
def test_the_sum_over_epochs_goes_on_or_starts_anew(restart):
    """With one state and reward 1, q = 1 / (1 - gamma) in every epoch."""
    env = Paid(1.0)
    env.observation = lambda: 0
    agent = POWR(env, gamma=0.5, step_size=1.0, restart=restart, regularization=1e-12).learn(40)
    q = agent.action_values([0])[0]
    np.testing.assert_allclose(q, 2.0, rtol=1e-6)
    exponents = agent._plan.policy([0])[0]
    np.testing.assert_allclose(exponents, 2.0 if restart else 8.0, rtol=1e-6)


# -- seeds ----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_run(make):
    np.random.seed(1)  # noqa: NPY002
    agent = make().learn(200)
    np.random.seed(2)  # noqa: NPY002
    assert_same(agent, make().learn(200))
    assert not np.array_equal(agent.data.columns()[1], make(seed=1).learn(200).data.columns()[1])


# -- callbacks ------------------------------------------------------------------------------------


def test_the_callback_is_called_after_every_step_and_only_false_stops(make):
    seen = []
    agent = make().learn(25, callback=lambda agent: seen.append(agent.num_timesteps))
    assert seen == list(range(1, 26))
    agent.learn(50, callback=lambda agent: agent.num_timesteps < 42)
    assert agent.num_timesteps == agent.env.n_steps == 42
    assert agent.learn(20).num_timesteps == 62


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


# -- interrupts -----------------------------------------------------------------------------------


def assert_whole(agent):
    """Every transition is kept and starts where the one before it in its episode ended."""
    assert agent.num_timesteps == agent.env.n_steps
    states, _, _, next_states, _ = agent.data.columns()
    within = np.setdiff1d(np.arange(1, agent.num_timesteps), agent.data.starts)
    np.testing.assert_array_equal(states[within], next_states[within - 1])


class InterruptedStep(Corridor):
    """Ctrl-C before its eighteenth step."""

    def step(self, action):
        if self.n_steps == 17 and not hasattr(self, "interrupted"):
            self.interrupted = True
            raise KeyboardInterrupt
        return super().step(action)


def test_an_interrupt_in_the_environment_keeps_whole_transitions(make):
    agent, reference = make(InterruptedStep), make().learn(17)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(50)
    assert_same(agent, reference)
    assert agent.learn(33).num_timesteps == 50
    assert agent.data.starts[:3] == [0, 10, 17]
    assert_whole(agent)


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("POWR, finite", "powr.data.Counts.add"),
        ("POWR, box", "powr.world_model.WorldModel.solve"),
        ("OptimisticPOWR, finite", "powr.data.Counts.add"),
        ("OptimisticPOWR, finite", "optimistic_powr.returns.ReturnRange.observe"),
        ("OptimisticPOWR, box", "optimistic_powr.displacement.DisplacementModel._solve"),
    ],
)
def test_an_interrupted_plan_leaves_the_old_policy(kind, part, monkeypatch, tmp_path):
    cls, continuous = KINDS[kind]
    agent = cls(Corridor(continuous=continuous), seed=1000).learn(21)
    before = agent._behaviour()(PLACES[continuous])
    function = resolve_name(part)

    def interrupted(*arguments, **keywords):
        function(*arguments, **keywords)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(part, interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.learn(40)
    assert_whole(agent)
    np.testing.assert_array_equal(agent._behaviour()(PLACES[continuous]), before)
    agent.save(tmp_path / "agent.npz")
    twin = cls.load(tmp_path / "agent.npz", Corridor(continuous=continuous))
    assert_whole(agent.learn(60))
    assert_same(agent, twin.learn(60))  # nothing half updated was kept
    assert not np.array_equal(agent._behaviour()(PLACES[continuous]), before)
    if cls is POWR:  # the interrupted epoch's data are learned from with the next one
        assert agent.model_.n_transitions_ == np.flatnonzero(agent.data.ended)[-1] + 1


# -- solves that fail -----------------------------------------------------------------------------


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


# -- warnings -------------------------------------------------------------------------------------


@both
def test_an_episode_without_end_is_warned_about_once(cls, monkeypatch):
    monkeypatch.setattr(interface, "_LONG_EPISODE", 50)
    agent = cls(Corridor(length=10**9))
    with pytest.warns(UserWarning, match="no time limit, .* not ended after 50 steps") as caught:
        agent.learn(120).learn(60)
    assert len(caught) == 1
    assert "TimeLimit" in str(caught[0].message)
    assert caught[0].filename == __file__
    limited = gymnasium.wrappers.TimeLimit(Corridor(length=10**9), 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(cls(limited).learn(120).episode_returns) == 2


def test_values_beyond_what_rewards_allow_are_recorded_and_warned_about_once():
    agent = POWR("MountainCar-v0", kernel=Gaussian([0.1, 0.01]), mirror_steps=10, seed=1000)
    with pytest.warns(
        UserWarning, match=r"beyond what the rewards allow, by .*%.*rougher k"
    ) as caught:
        agent.learn(1000)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert agent.n_overshoots_ >= 2
    assert agent.worst_overshoot_ > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = POWR("MountainCar-v0", mirror_steps=10, seed=1000).learn(600)
    assert agent.n_overshoots_ == 0
    assert agent.worst_overshoot_ < 0.25


# -- environments that return nonsense ------------------------------------------------------------

NONSENSE = {
    "NaN observed": ({"observation": np.array([np.nan, 0.0])}, "must be finite"),
    "too long": ({"observation": np.zeros(3)}, r"shape \(2,\), got \(3,\)"),
    "NaN paid": ({"reward": float("nan")}, "the reward nan .* must be finite"),
    "too much paid": ({"reward": 1.7e308}, r"reward 1\.7e\+308 .* 1e\+100 .*TransformReward"),
    "no reward": ({"reward": None}, "the reward None .* must be one number"),
    "a place beyond": ({"observation": 10, "continuous": False}, r"within Discrete\(10\), got 10"),
}


@pytest.mark.parametrize(("fault", "message"), NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("at_step", [21, 30], ids=["first", "last"])
@both
def test_nonsense_is_named_and_leaves_the_transitions_before_it(cls, at_step, fault, message):
    agent = cls(Broken(at_step=at_step, **fault), seed=1000)
    with pytest.raises(ValueError, match=message) as caught:
        agent.learn(100)
    assert "<Broken instance> returned" in str(caught.value)
    continuous = fault.get("continuous", True)
    assert_same(agent, cls(Broken(continuous=continuous), seed=1000).learn(at_step - 1))
    assert agent.learn(30).num_timesteps == at_step + 29


@pytest.mark.parametrize("env", [OldReset, OldStep])
def test_an_environment_of_the_older_gym_is_told_how_to_change(env):
    with pytest.raises(ValueError, match=r"returned .* from .* must return .*info.*shimmy"):
        POWR(env()).learn(10)


class ByReference(Corridor):
    """Returns its own state array, which the next step overwrites."""

    def observation(self):
        self.array = getattr(self, "array", np.zeros(2))
        self.array[:] = super().observation()
        return self.array


@both
def test_an_environment_that_returns_its_own_array_is_learned_like_any_other(cls):
    shared = cls(ByReference(continuous=True)).learn(55)
    assert_same(shared, cls(Corridor(continuous=True)).learn(55))


# -- predict --------------------------------------------------------------------------------------


def test_one_observation_has_one_action_a_batch_a_batch_and_none_none(make):
    agent = make().learn(40)
    places = PLACES[agent.data.state_shape != ()]
    batch, state = agent.predict(places, deterministic=True)
    assert state is None
    assert batch.shape == (10,)
    singles = [agent.predict(place, deterministic=True)[0] for place in places]
    assert np.ndim(singles[0]) == 0
    assert singles == batch.tolist() == probabilities(agent).argmax(axis=1).tolist()
    assert agent.predict(places[:0])[0].shape == (0,)
    assert agent.action_probabilities(places[:0]).shape == (0, 2)
    assert agent.action_values(places).shape == (10, 2)


def test_actions_are_numbered_as_the_environment_numbers_them(make):
    agent, plain = make(start=5).learn(60), make().learn(60)  # the corridor refuses other actions
    assert_same(agent, plain)
    places = PLACES[agent.data.state_shape != ()]
    found, expected = (each.predict(places, deterministic=True)[0] for each in (agent, plain))
    np.testing.assert_array_equal(found - 5, expected)
    assert set(agent.predict(places)[0].tolist()) <= {5, 6}


@pytest.mark.parametrize("name", ["FrozenLake-v1", "MountainCar-v0"])
def test_all_that_reset_returns_is_refused_with_the_mistake(name):
    agent = POWR(name)
    with pytest.raises(ValueError, match=r"as env\.reset\(\) returns it: write `observation, in"):
        agent.predict(agent.env.reset(seed=0))


# -- settings -------------------------------------------------------------------------------------


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
