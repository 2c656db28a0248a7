"""The agent: exact numbers of timesteps, reproducible to the bit, undisturbed by looking at it."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from powr import POWR
from powr.kernels import Dirac, Exponential
from tests.powr.environments import Broken, Corridor
from tests.powr.snapshot import snapshot
from tests.powr.summed import summed
from tests.support.hostile_environments import OldReset, OldStep

ROOT = Path(__file__).parents[2]
SMALL = {"summed": True, "max_rank": 60, "mirror_steps": 2}

# Ways to make an agent: finite and box, afresh and summed, and one whose kernel is the data's.
AGENTS = {
    "finite": lambda seed=0: POWR("FrozenLake-v1", seed=seed),
    "box": lambda seed=0: POWR("MountainCar-v0", seed=seed),
    "summed finite": lambda seed=0: summed("FrozenLake-v1", seed=seed),
    "summed box": lambda seed=0: POWR("MountainCar-v0", seed=seed, **SMALL),
    "summed from data": lambda seed=0: POWR(
        "CartPole-v1", seed=seed, episodes_per_epoch=3, **SMALL
    ),
}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


@pytest.fixture(scope="module")
def lake_agent():
    return POWR(gymnasium.make("FrozenLake-v1", is_slippery=False), seed=0).learn(1000)


# -- learn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [1, 9, 10, 11, 57])
def test_learn_takes_exactly_the_steps_asked_for(total):
    agent = POWR(Corridor(length=10))
    assert agent.learn(total) is agent
    assert agent.num_timesteps == agent.env.n_steps == total
    assert len(agent.episode_returns) == total // 10


@every_agent
@pytest.mark.parametrize("first", [1, 230])
def test_two_calls_of_learn_equal_one(make, first):
    assert snapshot(make().learn(first).learn(400 - first)) == snapshot(make().learn(400))


def test_the_callback_is_called_after_every_step():
    seen = []
    POWR(Corridor()).learn(25, callback=lambda agent: seen.append(agent.num_timesteps))
    assert seen == list(range(1, 26))


@pytest.mark.parametrize("stop", [1, 10, 17])
def test_a_true_answer_of_the_callback_stops_and_learn_goes_on_from_there(stop):
    agent = POWR(Corridor()).learn(50, callback=lambda agent: agent.num_timesteps == stop)
    assert agent.num_timesteps == agent.env.n_steps == stop
    assert snapshot(agent.learn(50 - stop)) == snapshot(POWR(Corridor()).learn(50))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_a_callback_raises_loses_no_timestep(error):
    def fail(agent):
        if agent.num_timesteps == 17:
            agent.env.reset()
            raise error

    agent = POWR(Corridor())
    with pytest.raises(error):
        agent.learn(50, callback=fail)
    assert agent.num_timesteps == 17
    assert snapshot(agent.learn(33)) == snapshot(POWR(Corridor()).learn(50))


def test_episode_returns_are_those_of_finished_episodes():
    rewards = []

    class Recorder(Corridor):
        def step(self, action):
            outcome = super().step(action)
            rewards.append(outcome[1])
            return outcome

    agent = POWR(Recorder()).learn(25)
    assert agent.episode_returns == [sum(rewards[:10]), sum(rewards[10:20])]


def test_learn_finds_the_way_across_the_lake(lake_agent):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    observation, _ = env.reset(seed=1)
    done = False
    while not done:
        observation, reward, terminated, truncated, _ = env.step(
            lake_agent.predict(observation, deterministic=True)[0]
        )
        done = terminated or truncated
    assert reward == 1.0


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1"])
def test_three_lines_train_an_agent_without_a_kernel(name):
    agent = POWR(name, seed=0)
    agent.learn(450)
    action, _ = agent.predict(agent.env.observation_space.sample(), deterministic=True)
    assert agent.env.action_space.contains(action)
    assert agent.n_plans_ > 0
    assert agent.settings_["kernel"][0] is not None


# -- epochs ---------------------------------------------------------------------------------------


def fitted_after_each_episode(n_episodes, **settings):
    """How many transitions the model holds after each episode of ten steps."""
    agent = summed(Corridor(length=10), **settings)
    fitted = []
    for _ in range(n_episodes):
        agent.learn(10)
        fitted.append(0 if agent.model_ is None else agent.model_.n_transitions_)
    return fitted


def test_an_epoch_is_an_episode_by_default():
    assert fitted_after_each_episode(4) == [10, 20, 30, 40]


def test_an_epoch_collects_at_least_so_many_episodes():
    assert fitted_after_each_episode(7, episodes_per_epoch=3) == [0, 0, 30, 30, 30, 60, 60]


def test_an_epoch_collects_at_least_a_fraction_of_the_data():
    grown = fitted_after_each_episode(8, epoch_growth=0.5)
    assert grown == [10, 20, 30, 30, 50, 50, 50, 80]


def test_nothing_is_planned_in_the_middle_of_an_episode():
    agent = summed(Corridor(length=10)).learn(19)
    assert agent.model_.n_transitions_ == 10


# -- predict --------------------------------------------------------------------------------------


def test_predict_of_one_observation_is_one_action_and_of_a_batch_a_batch(lake_agent):
    single, state = lake_agent.predict(3, deterministic=True)
    batch, _ = lake_agent.predict([3, 4, 3], deterministic=True)
    assert state is None
    assert np.ndim(single) == 0
    assert batch.shape == (3,)
    assert single == batch[0] == batch[2]


def test_predict_takes_rows_of_a_box():
    agent = POWR("MountainCar-v0", **SMALL).learn(250)
    observations = np.array([[-0.5, 0.0], [0.2, 0.03]], np.float32)
    batch, _ = agent.predict(observations, deterministic=True)
    assert [agent.predict(row, deterministic=True)[0] for row in observations] == batch.tolist()
    assert agent.action_probabilities(observations).shape == (2, 3)


@every_agent
def test_no_observations_have_no_actions(make):
    agent = make().learn(250)
    space = agent.env.observation_space
    nothing = np.empty((0, *space.shape), space.dtype)
    assert agent.predict(nothing)[0].shape == (0,)
    assert agent.predict(nothing, deterministic=True)[0].shape == (0,)
    assert agent.action_probabilities(nothing).shape == (0, agent.n_actions)


def test_the_deterministic_action_is_the_likeliest(lake_agent):
    probabilities = lake_agent.action_probabilities(np.arange(16))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        lake_agent.predict(range(16), deterministic=True)[0], probabilities.argmax(axis=1)
    )


def test_sampled_actions_have_the_policys_frequencies():
    agent = summed("FrozenLake-v1", step_size=0.5, seed=0).learn(300)
    (expected,) = agent.action_probabilities([0])
    assert (expected > 0.02).all()  # all four actions are to be tested
    n = 20_000
    actions, _ = agent.predict(np.zeros(n, int), deterministic=False)
    frequencies = np.bincount(actions, minlength=4) / n
    five_sigma = 5 * np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(frequencies - expected) < five_sigma).all()


@pytest.mark.parametrize("continuous", [False, True])
def test_actions_while_collecting_have_the_policys_frequencies(continuous):
    agent = summed(Corridor(continuous=continuous), step_size=0.05, seed=1).learn(30)
    n, act, draw = 2000, agent._planner.policy.act, agent._collector.generator.random
    for place in range(10):  # some of them never visited
        state = np.array([place, np.sin(place)]) if continuous else place
        frequencies = np.bincount([act(state, draw()) for _ in range(n)], minlength=2) / n
        expected = agent.action_probabilities([state])[0]
        np.testing.assert_allclose(frequencies, expected, atol=4 * np.sqrt(0.25 / n))


def test_a_single_action_is_always_taken():
    env = Corridor()
    env.action_space = Discrete(1, start=1)
    agent = POWR(env).learn(25)
    assert {action for columns in agent._collector.finished for action in columns[1]} == {0}


def test_an_untrained_agent_is_indifferent():
    agent = POWR("CartPole-v1")
    np.testing.assert_array_equal(agent.action_probabilities(np.ones((3, 4))), np.full((3, 2), 0.5))


def test_actions_are_numbered_as_the_environment_numbers_them():
    agent = POWR(Corridor(start=5)).learn(200)  # the corridor refuses other actions
    deterministic, _ = agent.predict(range(10), deterministic=True)
    sampled, _ = agent.predict(np.zeros(50, int), deterministic=False)
    assert set(deterministic.tolist()) <= {5, 6}
    assert set(sampled.tolist()) <= {5, 6}
    np.testing.assert_array_equal(
        deterministic - 5, POWR(Corridor()).learn(200).predict(range(10), deterministic=True)[0]
    )


# -- seeds ----------------------------------------------------------------------------------------


@every_agent
def test_the_same_seed_gives_the_same_bits(make):
    assert snapshot(make().learn(500)) == snapshot(make().learn(500))


@every_agent
def test_another_seed_gives_another_run(make):
    histories = [snapshot(make(seed).learn(250))["_collector"]["finished"] for seed in (0, 1)]
    assert histories[0] != histories[1]


def test_randomness_of_others_changes_nothing():
    np.random.seed(1)  # noqa: NPY002
    one = snapshot(POWR("FrozenLake-v1").learn(200))
    np.random.seed(2)  # noqa: NPY002
    assert snapshot(POWR("FrozenLake-v1").learn(200)) == one


@every_agent
def test_predicting_leaves_training_untouched(make):
    watched = make()

    def look(agent):
        observation = np.zeros((2, *agent.env.observation_space.shape), int)
        agent.predict(observation, deterministic=False)
        agent.predict(observation, deterministic=True)
        agent.action_probabilities(observation)

    watched.learn(300, callback=look)
    mine = ("_prediction_generator",)
    assert snapshot(watched, without=mine) == snapshot(make().learn(300), without=mine)


# -- environments that return nonsense ------------------------------------------------------------

NONSENSE = {
    "NaN observed": {"at_step": 25, "observation": np.array([np.nan, 0.0])},
    "infinity observed": {"at_step": 25, "observation": np.array([0.0, -np.inf])},
    "NaN paid": {"at_step": 25, "reward": float("nan")},
    "infinity paid": {"at_step": 25, "reward": float("inf")},
    "at an episode's first step": {"at_step": 21, "reward": float("nan")},
    "at an episode's last step": {"at_step": 30, "reward": float("nan")},
    "at reset": {"at_reset": 3, "observation": np.array([np.nan, 0.0])},
}


@pytest.mark.parametrize("fault", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_stops_training_and_leaves_the_agent_as_before_the_episode(fault):
    agent = POWR(Broken(**fault))
    timestep = fault.get("at_step", 20)
    with pytest.raises(ValueError, match=rf"timestep {timestep}: .* finite"):
        agent.learn(100)
    assert snapshot(agent) == snapshot(POWR(Broken()).learn(20))
    assert snapshot(agent.learn(30)) == snapshot(POWR(Broken()).learn(50))


OUT_OF_SHAPE = {
    "too long": ({"observation": np.zeros(3)}, r"shape \(2,\), got \(3,\)"),
    "a column": ({"observation": np.zeros((2, 1))}, r"shape \(2,\), got \(2, 1\)"),
    "ragged": ({"observation": [[0.0], 1.0]}, "observation .* Change observation_space"),
    "no reward": ({"reward": None}, "the reward None .* must be one number"),
    "a reward in an array": ({"reward": np.ones(1)}, r"the reward array\(\[1\.\]\) .* one number"),
    "a reward in words": ({"reward": "1"}, "the reward '1' .* must be one number"),
    "half a place": (
        {"observation": 0.5, "continuous": False},
        r"observation 0\.5 .* an integer of Discrete\(10\), got 0\.5",
    ),
    "a place in an array": (
        {"observation": np.array([3]), "continuous": False},
        r"an integer of Discrete\(10\), got array\(\[3\]\)\. Change observation_space or",
    ),
    "a place beyond": (
        {"observation": 10, "continuous": False},
        r"must lie within Discrete\(10\), got 10",
    ),
}


@pytest.mark.parametrize(("fault", "message"), OUT_OF_SHAPE.values(), ids=OUT_OF_SHAPE)
def test_what_does_not_fit_its_space_is_named_and_leaves_the_agent_as_before(fault, message):
    agent = POWR(Broken(at_step=25, **fault))
    with pytest.raises(ValueError, match=message) as caught:
        agent.learn(100)
    assert "<Broken instance> returned" in str(caught.value)
    assert "at timestep 25: " in str(caught.value)
    kept = {name: value for name, value in fault.items() if name == "continuous"}
    assert snapshot(agent) == snapshot(POWR(Broken(**kept)).learn(20))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (OldReset, r"returned array\(.*\) from reset .* must return observation, info, .*shimmy"),
        (OldStep, "returned 4 values from step .* terminated, truncated, info, .*shimmy"),
    ],
)
def test_an_environment_of_the_older_gym_is_told_how_to_change(make, message):
    with pytest.raises(ValueError, match=message):
        POWR(make()).learn(10)


def test_numpys_truth_values_and_integers_are_places():
    class Told(Corridor):
        def observation(self):
            kinds = np.bool_, np.int8, np.uint64, np.array, bool
            return kinds[self.n_steps % 5](self.place) if self.place < 2 else self.place

    assert snapshot(POWR(Told()).learn(200)) == snapshot(POWR(Corridor()).learn(200))


# -- kernels --------------------------------------------------------------------------------------


def kernel_of(agent):
    return agent.model_.parameters_.kernel


def test_a_finite_space_has_the_dirac_kernel():
    assert isinstance(kernel_of(summed("FrozenLake-v1").learn(200)), Dirac)
    assert isinstance(POWR("FrozenLake-v1").settings_["kernel"][0], Dirac)


def test_a_box_has_bandwidths_of_a_third_of_its_range():
    kernel = kernel_of(POWR("MountainCar-v0", **SMALL).learn(200))
    assert isinstance(kernel, Exponential)
    np.testing.assert_allclose(kernel.bandwidth, [0.6, 0.14 / 3], rtol=1e-6)


def test_an_unbounded_dimension_has_a_third_of_the_first_epochs_spread():
    agent = POWR("CartPole-v1", **SMALL).learn(100)
    states = agent._collector.finished[0][0]
    bounds = agent.env.observation_space.high
    expected = np.ptp(states, axis=0) / 3
    expected[[0, 2]] = 2 * bounds[[0, 2]] / 3
    np.testing.assert_allclose(kernel_of(agent).bandwidth, expected, rtol=1e-6)


class Flat(Corridor):
    """One of its two dimensions never varies."""

    def __init__(self):
        super().__init__(continuous=True)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))

    def observation(self):
        return np.array([self.place, 3.0])


def test_a_dimension_without_spread_has_bandwidth_one():
    assert kernel_of(summed(Flat()).learn(10)).bandwidth[1] == 1.0
    assert np.isfinite(POWR(Flat()).learn(60).action_probabilities([[2.0, 3.0]])).all()


def test_a_kernel_given_is_used():
    kernel = Exponential([0.5, 0.05])
    assert kernel_of(POWR("MountainCar-v0", kernel=kernel, **SMALL).learn(200)) is kernel
    agent = POWR("MountainCar-v0", kernel=kernel).learn(60)
    assert agent.model_.kernel is kernel
    assert "kernel" not in agent.settings_  # it was not chosen


# -- imports --------------------------------------------------------------------------------------


def test_importing_powr_loads_no_heavy_package():
    program = (
        "import sys, powr, powr.cli, powr.checkpoint\n"
        "heavy = {'torch', 'stable_baselines3', 'sb3_contrib', 'pandas', 'matplotlib', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert finished.stdout.strip() == "[]"
