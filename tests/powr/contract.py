"""What every agent must pass: POWR here, its extension in extension/tests.

A subclass names its class as `cls`, and may name parts of an update that an interrupt can hit.
"""

import copy
import pickle
from pkgutil import resolve_name

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Dict, Discrete, MultiDiscrete, Tuple
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from tests.powr.environments import (
    PLACES,
    Broken,
    ByReference,
    Corridor,
    Disguised,
    InterruptedStep,
    Paid,
    assert_same,
    assert_whole,
    probabilities,
)

NONSENSE = {
    "NaN observed": ({"observation": np.array([np.nan, 0.0])}, "nan"),
    "too long": ({"observation": np.zeros(3)}, r"\(2,\), got \(3,\)"),
    "NaN paid": ({"reward": float("nan")}, "reward nan"),
    "too much paid": ({"reward": 1.7e308}, r"reward 1\.7e\+308 .*TransformReward"),
    "no reward": ({"reward": None}, "reward None"),
    "a place beyond": ({"observation": 10, "continuous": False}, r"Discrete\(10\), .*got 10"),
}
DISGUISES = {
    "Tuple": (Tuple([Discrete(2), Discrete(5)]), lambda i: divmod(i, 5)),
    "Dict": (
        Dict({"half": Discrete(2), "place": Discrete(5, start=3)}),
        lambda i: {"half": i // 5, "place": 3 + i % 5},
    ),
}
DUPLICATES = [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]  # noqa: S301


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


@pytest.mark.filterwarnings("ignore:Evaluation environment is not wrapped:UserWarning")
class AgentContract:
    cls: type
    parts: tuple[tuple[str, bool], ...] = ()  # and whether observations are a box
    timesteps_on_the_lake = 3000

    @pytest.fixture(params=[False, True], ids=["finite", "box"])
    def make(self, request):
        """A maker of agents, in a corridor or in a variant of it."""

        def make(env=Corridor, seed=1000, **options):
            return self.cls(env(continuous=request.param, **options), seed=seed)

        return make

    # -- timesteps and episodes -------------------------------------------------------------------

    @pytest.mark.parametrize("total", [1, 10, 2e1, np.int64(57)])
    def test_learn_takes_exactly_the_steps_asked_for(self, make, total):
        agent = make()
        assert agent.learn(total) is agent
        assert agent.num_timesteps == agent.env.n_steps == total
        assert len(agent.episode_returns) == total // 10

    def test_each_call_starts_an_episode_and_keeps_that_left_open(self, make):
        agent = make().learn(15).learn(15)
        assert agent.data.starts == [0, 10, 15, 25]
        assert agent.env.n_resets == 4
        assert agent.data.ended.nonzero()[0].tolist() == [9, 24]
        rewards = agent.data.columns()[2]
        assert agent.episode_returns == [rewards[:10].sum(), rewards[15:25].sum()]
        assert_same(agent, make().learn(15).learn(15))

    def test_the_same_seed_gives_the_same_bits_and_another_seed_another_run(self, make):
        np.random.seed(1)  # noqa: NPY002
        agent = make().learn(200)
        np.random.seed(2)  # noqa: NPY002
        assert_same(agent, make().learn(200))
        other = make(seed=1).learn(200)
        assert not np.array_equal(agent.data.columns()[1], other.data.columns()[1])

    def test_the_callback_is_called_after_every_step_and_only_false_stops(self, make):
        seen = []
        agent = make().learn(25, callback=lambda agent: seen.append(agent.num_timesteps))
        assert seen == list(range(1, 26))
        agent.learn(50, callback=lambda agent: agent.num_timesteps < 42)
        assert agent.num_timesteps == agent.env.n_steps == 42
        assert agent.learn(20).num_timesteps == 62

    # -- interrupts -------------------------------------------------------------------------------

    def test_an_interrupt_in_the_environment_keeps_whole_transitions(self, make):
        agent = make(InterruptedStep)
        reference = make().learn(50, lambda agent: agent.num_timesteps < 17)
        with pytest.raises(KeyboardInterrupt):
            agent.learn(50)
        assert_same(agent, reference)
        assert agent.learn(33).num_timesteps == 50
        assert agent.data.starts[:3] == [0, 10, 17]
        assert_whole(agent)

    def test_an_interrupted_update_leaves_the_old_policy(self, monkeypatch, tmp_path):
        for part, continuous in self.parts:
            agent = self.cls(Corridor(continuous=continuous), seed=1000).learn(21)
            before = agent._behaviour()(PLACES[continuous])
            function = resolve_name(part)

            def interrupted(*arguments, function=function, **keywords):
                function(*arguments, **keywords)
                raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(part, interrupted)
                with pytest.raises(KeyboardInterrupt):
                    agent.learn(40)
            assert_whole(agent)
            np.testing.assert_array_equal(agent._behaviour()(PLACES[continuous]), before)
            agent.save(tmp_path / "agent.npz")
            twin = self.cls.load(tmp_path / "agent.npz", Corridor(continuous=continuous))
            assert_whole(agent.learn(60))
            assert_same(agent, twin.learn(60))  # nothing half updated was kept
            assert not np.array_equal(agent._behaviour()(PLACES[continuous]), before)

    # -- environments -----------------------------------------------------------------------------

    @pytest.mark.parametrize(("fault", "value"), NONSENSE.values(), ids=NONSENSE)
    @pytest.mark.parametrize("at_step", [21, 30], ids=["first", "last"])
    def test_nonsense_is_named_and_leaves_the_transitions_before_it(self, at_step, fault, value):
        agent = self.cls(Broken(at_step=at_step, **fault), seed=1000)
        with pytest.raises(ValueError, match=rf"<Broken instance> .*{value}"):
            agent.learn(100)
        sound = Broken(continuous=fault.get("continuous", True))
        reference = self.cls(sound, seed=1000)
        reference.learn(100, lambda agent: agent.num_timesteps < at_step - 1)
        assert_same(agent, reference)
        assert agent.learn(30).num_timesteps == at_step + 29

    def test_an_environment_that_returns_its_own_array_is_learned_like_any_other(self):
        shared = self.cls(ByReference(continuous=True)).learn(55)
        assert_same(shared, self.cls(Corridor(continuous=True)).learn(55))

    @pytest.mark.parametrize(("space", "tell"), DISGUISES.values(), ids=DISGUISES)
    def test_an_agent_learns_the_same_from_any_finite_space(self, space, tell, tmp_path):
        plain = self.cls(Corridor()).learn(105)
        agent = self.cls(Disguised(space, tell)).learn(105)
        assert agent.observation_space is space
        assert agent.episode_returns == plain.episode_returns
        told = [tell(place) for place in range(10)]
        np.testing.assert_array_equal(agent.action_probabilities(told), probabilities(plain))
        agent.save(tmp_path / "agent.npz")
        loaded = self.cls.load(tmp_path / "agent.npz", Disguised(space, tell))
        np.testing.assert_array_equal(loaded.action_probabilities(told), probabilities(plain))
        with pytest.raises(ValueError, match="observation space"):
            self.cls.load(tmp_path / "agent.npz", Disguised(MultiDiscrete([2, 7]), tell))

    @pytest.mark.filterwarnings("ignore:action values lie beyond")
    @pytest.mark.parametrize("continuous", [False, True])
    @pytest.mark.parametrize("reward", [1e-9, -1e9, lambda reward: 1e100 * (reward > 0)])
    def test_an_agent_stays_finite(self, continuous, reward):
        env = Paid(reward, continuous=continuous)
        agent = self.cls(env, gamma=0.9999, step_size=1e100, mirror_steps=3).learn(60)
        seen = np.vstack([PLACES[True], [1e6, -1e6]]) if continuous else PLACES[False]
        np.testing.assert_allclose(agent.action_probabilities(seen).sum(axis=1), 1)

    # -- predict ----------------------------------------------------------------------------------

    def test_one_observation_has_one_action_a_batch_a_batch_and_none_none(self, make):
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

    def test_actions_are_numbered_as_the_environment_numbers_them(self, make):
        agent, plain = make(start=5).learn(60), make().learn(60)  # others are refused there
        assert_same(agent, plain)
        places = PLACES[agent.data.state_shape != ()]
        found, expected = (each.predict(places, deterministic=True)[0] for each in (agent, plain))
        np.testing.assert_array_equal(found - 5, expected)
        assert set(agent.predict(places)[0].tolist()) <= {5, 6}

    @pytest.mark.parametrize("wrap", [lambda make: make(), lambda make: DummyVecEnv([make] * 3)])
    def test_evaluate_policy_takes_an_agent_that_found_the_way(self, wrap):
        agent = self.cls(lake(), seed=1000).learn(self.timesteps_on_the_lake)
        found = evaluate_policy(agent, wrap(lake), n_eval_episodes=6, return_episode_rewards=True)
        assert found == ([1.0] * 6, [6] * 6)

    def test_evaluating_in_the_training_environment_changes_nothing(self):
        """Between two calls of `learn`, each of which starts an episode."""
        env, alone = lake(), self.cls(lake(), seed=1000)
        agent = self.cls(env, seed=1000)
        for _ in range(3):
            alone.learn(100)
            agent.learn(100)
            evaluate_policy(agent, env, n_eval_episodes=2)
        assert_same(agent, alone)

    # -- copies and files -------------------------------------------------------------------------

    @pytest.mark.parametrize("duplicate", DUPLICATES)
    def test_a_copy_of_an_agent_lives_its_own_life(self, make, duplicate):
        agent = make().learn(35)
        before = probabilities(agent)
        twin = duplicate(agent)
        twin.learn(40)
        np.testing.assert_array_equal(probabilities(agent), before)
        assert agent.num_timesteps == 35
        assert_same(agent.learn(40), twin)

    @pytest.mark.parametrize("n", [0, 1, 10, 25])
    def test_an_agent_can_be_saved_at_any_time(self, make, n, tmp_path):
        agent = make(start=2)
        if n:
            agent.learn(n)
        agent.save(tmp_path / "agent.npz")
        loaded = self.cls.load(tmp_path / "agent.npz", make(start=2).env)
        np.testing.assert_array_equal(probabilities(loaded), probabilities(agent))
        assert_same(loaded.learn(60), agent.learn(60))

    @pytest.mark.parametrize("name", ["FrozenLake-v1", "MountainCar-v0"])
    def test_a_loaded_agent_goes_on_the_same(self, name, tmp_path):
        assert_goes_on(self.cls(name, seed=3).learn(333), tmp_path / "agent.npz")

    def test_only_the_class_that_wrote_a_file_reads_it(self, tmp_path):
        path, other = tmp_path / "agent.npz", type("Other", (self.cls,), {})
        self.cls("FrozenLake-v1").learn(30).save(path)
        with pytest.raises(ValueError, match=rf"{self.cls.__name__}\.load"):
            other.load(path)
        other("FrozenLake-v1").save(path)
        assert type(other.load(path)) is other
        with pytest.raises(ValueError, match=r"Other\.load"):
            self.cls.load(path)


def assert_goes_on(agent, path):
    """An agent and what is loaded from its file are the same, and remain so."""
    observations = agent.data.columns()[0][:50]
    agent.predict(observations)  # a draw that the file must not forget
    agent.save(path)
    loaded = type(agent).load(path)
    assert_same(loaded, agent)
    for ask in (
        lambda one: one.predict(observations)[0],
        lambda one: one.predict(observations, deterministic=True)[0],
        lambda one: one.action_values(observations),
    ):
        np.testing.assert_array_equal(ask(loaded), ask(agent))
    assert_same(loaded.learn(450), agent.learn(450))
    for name in ("n_overshoots_", "worst_overshoot_", "settings_"):
        assert getattr(loaded, name, None) == getattr(agent, name, None)


def assert_setting_is_refused(cls, env, name, value, error):
    """When it is given, and when it is changed later; the error has its name and value."""
    with pytest.raises(error, match=name) as caught:
        cls(env, **{name: value})
    assert repr(value) in str(caught.value)
    if name != "seed":
        agent = cls(env)
        setattr(agent, name, value)
        with pytest.raises(error, match=name):
            agent.learn(10)
