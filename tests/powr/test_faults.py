"""Faults that users met, each of which must not come back."""

import copy
import pickle
import sys
import warnings
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from powr import POWR
from powr.guard import GuardedModel
from powr.kernels import Exponential, Gaussian
from powr.solvers import exact
from powr.world_model import WorldModel
from tests.powr.environments import Corridor
from tests.powr.snapshot import snapshot
from tests.powr.summed import summed

SMALL = {"summed": True, "max_rank": 60, "mirror_steps": 2}


# -- observations by reference --------------------------------------------------------------------


class ByReference(Corridor):
    """Returns its own state array, which the next step overwrites."""

    def __init__(self):
        super().__init__(continuous=True)
        self.array = np.zeros(2)

    def observation(self):
        self.array[:] = super().observation()
        return self.array


def test_an_environment_that_returns_its_own_array_is_learned_like_any_other():
    shared, fresh = POWR(ByReference()).learn(55), POWR(Corridor(continuous=True)).learn(55)
    assert len(shared.model_.centers) > 1
    assert snapshot(shared) == snapshot(fresh)


# -- pairs left out of the subset -----------------------------------------------------------------


def walk(n, actions, terminated, rewards=None):
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (n, 2))
    next_states = np.clip(states + 0.1 * rng.normal(size=(n, 2)), -1, 1)
    return states, actions, np.zeros(n) if rewards is None else rewards, next_states, terminated


def chosen(data, n_actions, max_rank):
    model = WorldModel(Exponential(0.5), n_actions, method="subset", max_rank=max_rank).fit(*data)
    pairs = model._ready_solver()._pairs  # no pair repeats here, so pairs are transitions
    assert len(pairs) == len(np.unique(pairs)) <= max_rank
    return pairs


def test_the_subset_keeps_all_of_a_rare_action():
    actions = np.random.default_rng(1).integers(2, size=6000)
    rare = np.arange(100, 1100, 200)
    actions[rare] = 2
    data = walk(6000, actions, np.zeros(6000, bool), rewards=np.where(actions == 2, -5.0, 0.0))
    assert set(rare) <= set(chosen(data, 3, 600))
    model = WorldModel(Exponential(0.5), 3, method="subset", max_rank=600).fit(*data)
    q = model.action_values(lambda states: np.full((len(states), 3), 1 / 3), 0.9)(data[0][rare])
    assert (q.argmin(axis=1) == 2).all()


def test_the_subset_keeps_the_ends_of_episodes():
    terminated = np.zeros(20_000, bool)
    goals = np.arange(50, 10_000, 290)
    terminated[goals] = True
    actions = np.random.default_rng(1).integers(3, size=20_000)
    kept = np.isin(goals, chosen(walk(20_000, actions, terminated), 3, 600))
    assert len(goals) == 35
    assert kept.all()


def test_the_subset_keeps_the_rewards_that_stand_out():
    rewards = np.full(5000, -1.0)
    treasures = np.arange(30, 3000, 300)
    rewards[treasures] = 20.0
    data = walk(5000, np.zeros(5000, int), np.zeros(5000, bool), rewards)
    assert np.isin(treasures, chosen(data, 1, 200)).all()


# -- copies ---------------------------------------------------------------------------------------

AGENTS = {
    "finite": lambda: POWR("FrozenLake-v1", seed=1001),
    "box": lambda: POWR("MountainCar-v0", seed=1001),
    "summed": lambda: POWR("MountainCar-v0", seed=1001, **SMALL),
    "low rank": lambda: POWR("CartPole-v1", seed=1001, method="low_rank", **SMALL),
}
COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(one))}  # noqa: S301


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)
def test_a_copy_of_an_agent_lives_its_own_life(make, duplicate):
    agent = make().learn(230)
    before = snapshot(agent)
    twin = duplicate(agent)
    assert snapshot(twin) == before
    twin.learn(200)
    assert snapshot(agent) == before
    assert snapshot(agent.learn(200)) == snapshot(twin)


# -- the environment in other hands ---------------------------------------------------------------


def play(env, steps):
    env.reset(seed=5)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.start)
        if terminated or truncated:
            env.reset()


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1", "FrozenLake-v1"])
@pytest.mark.parametrize("settings", [{}, SMALL], ids=["afresh", "summed"])
@pytest.mark.parametrize("steps", [0, 30, 230])
def test_using_the_environment_between_two_calls_changes_nothing(name, steps, settings):
    def make():
        return POWR(name, seed=1000, **settings)

    agent = make().learn(90)
    play(agent.env, steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(310)
    assert snapshot(agent) == snapshot(make().learn(400))


def test_using_an_environment_without_counters_changes_nothing():
    env = Corridor()
    agent = POWR(env).learn(25)
    play(env, 12)
    assert snapshot(agent.learn(25)) == snapshot(POWR(Corridor()).learn(50))


def test_two_agents_may_share_an_environment():
    env = gymnasium.make("CartPole-v1")
    one, other = POWR(env, seed=1000, **SMALL), POWR(env, seed=1001, **SMALL)
    for _ in range(4):
        one.learn(50)
        other.learn(70)
    assert snapshot(one) == snapshot(POWR("CartPole-v1", seed=1000, **SMALL).learn(200))
    assert snapshot(other) == snapshot(POWR("CartPole-v1", seed=1001, **SMALL).learn(280))


def test_a_callback_may_use_the_environment():
    def evaluate(agent):
        if agent.num_timesteps % 70 == 0:
            play(agent.env, 130)

    agent = POWR("MountainCar-v0", seed=1000, **SMALL).learn(450, callback=evaluate)
    assert snapshot(agent) == snapshot(POWR("MountainCar-v0", seed=1000, **SMALL).learn(450))


class Kept(Corridor):
    """A corridor that keeps its place and time in something else than attributes of its own."""

    def __init__(self, holder):
        self.holder = holder
        super().__init__()

    def __getattr__(self, name):
        if name in ("place", "time"):
            holder = self.__dict__["holder"]
            return holder[name] if isinstance(holder, dict) else getattr(holder, name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name not in ("place", "time"):
            super().__setattr__(name, 0 if name in ("n_steps", "n_resets") else value)
        elif isinstance(self.holder, dict):
            self.holder[name] = value
        else:
            setattr(self.holder, name, value)


HOLDERS = {
    "attributes": Corridor,
    "a dict": lambda: Kept({}),
    "a dict with an object": lambda: Kept({"object": object()}),
    "an object": lambda: Kept(SimpleNamespace()),
    "an object that holds others": lambda: Kept(SimpleNamespace(other=object())),
    "an object with a large table": lambda: Kept(SimpleNamespace(table=[[0] * 50] * 50)),
}


@pytest.mark.parametrize("by_callback", [False, True], ids=["between calls", "by a callback"])
@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_use_of_an_environment_is_noticed_wherever_it_keeps_its_state(make, by_callback):
    def use(agent):
        if agent.num_timesteps % 7 == 5:
            for _ in range(3):
                agent.env.step(1)  # a reset would show in the random state

    agent = POWR(make())
    for _ in range(16):
        agent.learn(5, callback=use if by_callback else None)
        if not by_callback:
            use(agent)
    assert snapshot(agent) == snapshot(POWR(Corridor()).learn(80))


def n_calls(run):
    """How many functions are called in a run: a measure of its cost that no other process sways."""
    counts = {"call": 0, "c_call": 0, "return": 0, "c_return": 0, "c_exception": 0}
    sys.setprofile(lambda frame, event, argument: counts.update({event: counts[event] + 1}))
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts["call"] + counts["c_call"]


def test_a_callback_is_cheap_where_there_is_a_large_table_and_no_time_limit():
    agents = POWR("CliffWalking-v1"), POWR("CliffWalking-v1")
    plain = n_calls(lambda: agents[0].learn(300))
    assert n_calls(lambda: agents[1].learn(300, callback=lambda agent: None)) < 3 * plain
    assert snapshot(agents[0]) == snapshot(agents[1])


class Unrepeatable(Corridor):
    """Starts elsewhere each time, whatever the seed."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=self.n_resets)


def test_an_episode_that_cannot_be_taken_up_again_is_discarded_with_a_warning():
    agent = POWR(Unrepeatable()).learn(25)
    play(agent.env, 4)
    with pytest.warns(UserWarning, match="used between .* 5 timesteps .* taken back"):
        agent.learn(10)
    assert agent.num_timesteps == 30
    assert [len(columns[1]) for columns in agent._collector.finished] == [10, 10, 10]


def test_an_environment_left_alone_is_not_played_again():
    env = Corridor()
    agent = POWR(env)
    for _ in range(7):
        agent.learn(6)
    assert env.n_steps == 42
    assert env.n_resets == 5


# -- settings after the start ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("regularization", 0.1),
        ("gamma", 0.5),
        ("step_size", 3.0),
        ("mirror_steps", 2),
        ("kernel", Gaussian(1.0)),
        ("method", "low_rank"),
        ("prior", 5.0),
    ],
)
def test_a_setting_cannot_be_changed_once_training_has_begun(name, value):
    agent = summed(Corridor(continuous=True))
    setattr(agent, name, value)
    assert getattr(agent, name) is value or getattr(agent, name) == value
    agent.learn(5)
    with pytest.raises(
        AttributeError, match=rf"{name} .* begun: make a new agent, POWR\(env, {name}="
    ):
        setattr(agent, name, value)


def test_a_setting_changed_before_the_start_takes_effect():
    agent = POWR(Corridor())
    agent.summed = True
    agent.gamma, agent.kernel, agent.step_size = 0.5, Gaussian(2.0), 0.1
    given = summed(Corridor(), gamma=0.5, kernel=Gaussian(2.0), step_size=0.1)
    assert snapshot(agent.learn(40)) == snapshot(given.learn(40))


def test_a_setting_changed_before_the_start_is_checked():
    agent = POWR(Corridor())
    with pytest.raises(ValueError, match="gamma must be"):
        agent.gamma = 2.0
    with pytest.raises(TypeError, match="kernel must be"):
        agent.kernel = "Gaussian"


# -- rewards and values out of bounds -------------------------------------------------------------


class Rich(Corridor):
    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, 1.7e308, *rest


def test_rewards_too_large_to_add_up_are_refused():
    agent = POWR(Rich())
    with pytest.raises(ValueError, match=r"reward 1\.7e\+308 .* at most 1e\+100 .*TransformReward"):
        agent.learn(50)
    assert agent.num_timesteps == 0
    with pytest.raises(ValueError, match=r"rewards must .* 1e\+100 .* got -1\.7e\+308 at row 1"):
        WorldModel(Gaussian(1.0), 1).fit(
            [[0.0], [1.0]], [0, 0], [0, -1.7e308], [[1.0], [0.0]], [0, 0]
        )


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.array])
def test_rewards_of_any_precision_are_taken_without_a_warning(kind):
    class Imprecise(Corridor):
        def step(self, action):
            observation, reward, *rest = super().step(action)
            return observation, kind(reward), *rest

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = POWR(Imprecise()).learn(40)
    assert snapshot(agent) == snapshot(POWR(Corridor()).learn(40))


@pytest.mark.parametrize("make", [POWR, summed], ids=["afresh", "summed"])
def test_the_largest_rewards_allowed_give_a_policy_and_a_checkpoint(make, tmp_path):
    class Paid(Corridor):
        def step(self, action):
            observation, reward, *rest = super().step(action)
            return observation, 1e100 * (reward > 0), *rest

    agent = make(Paid(), step_size=1e100, gamma=0.9999).learn(200)
    assert np.isfinite(agent.action_probabilities(range(10))).all()
    agent.save(tmp_path / "agent.npz")
    assert snapshot(POWR.load(tmp_path / "agent.npz", Paid())) == snapshot(agent)


def gaussian_car(**settings):
    return summed(
        "MountainCar-v0", kernel=Gaussian([0.1, 0.01]), max_rank=200, seed=1000, **settings
    )


def test_action_values_beyond_what_rewards_allow_are_kept_in_bounds_with_one_warning():
    agent = gaussian_car()
    with pytest.warns(UserWarning, match="beyond what the rewards allow") as caught:
        agent.learn(1000)
    assert len(caught) == 1
    planner = agent._planner
    assert planner.current.regularization > 1e-6
    # Each plan adds at most mirror_steps times the largest value that passes, 25 above the limits.
    largest, steps_per_plan = 125.0, 10
    bound = agent.n_plans_ * steps_per_plan * largest
    assert np.abs(planner.current.exponents).max() <= bound


def test_the_plain_solve_does_leave_the_bounds():
    """What the guard is for: one reward of -1 per step, and values above zero."""
    agent = gaussian_car()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent.learn(1000)
    model = agent.model_
    policy = agent.action_probabilities(model.states_)
    low, high = model.value_bounds(0.99)
    assert (low, high) == (pytest.approx(-100), 0.0)
    plain = model.at_states(model.solve(policy, 0.99))
    assert plain.max() > 25
    guarded = GuardedModel(model)
    kept = model.at_states(guarded.solve(policy, 0.99))
    assert -125 <= kept.min() <= kept.max() <= 25


def test_the_guard_leaves_possible_values_alone():
    agent = POWR("MountainCar-v0", seed=1000, **SMALL).learn(600)
    model, policy = agent.model_, agent.action_probabilities(agent.model_.states_)
    np.testing.assert_array_equal(
        GuardedModel(model).solve(policy, 0.99), model.solve(policy, 0.99)
    )


def test_a_singular_system_is_solved_with_a_stronger_regularization(monkeypatch):
    solve, seen = WorldModel.solve, []

    def singular(self, policy, gamma, regularization=None):
        seen.append(regularization)
        if regularization < 5e-5:
            raise np.linalg.LinAlgError("singular")
        return solve(self, policy, gamma, regularization)

    monkeypatch.setattr(WorldModel, "solve", singular)
    with pytest.warns(UserWarning, match="instead of 1e-06"):
        summed(Corridor(), mirror_steps=1).learn(10)
    np.testing.assert_allclose(seen, [1e-6, 1e-5, 1e-4])


def test_a_kernel_that_is_not_finite_is_named_with_a_remedy():
    def cosine(x, y):
        """Of the angle between two states, which the state 0 does not have."""
        with np.errstate(invalid="ignore"):
            norms = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
            return x @ y.T / norms

    agent = summed(Corridor(continuous=True), kernel=cosine, method="exact", mirror_steps=1)
    with pytest.raises(ValueError, match=r"kernel .*cosine.* gives no .*check that it is finite"):
        agent.learn(40)


# -- systems that are too large -------------------------------------------------------------------


def test_an_exact_solve_that_would_not_fit_is_refused_with_the_memory_it_needs(monkeypatch):
    monkeypatch.setattr(exact, "LARGEST_SYSTEM", 40 * 100**2)
    rng = np.random.default_rng(0)
    states = rng.normal(size=(101, 2))
    columns = states, np.zeros(101, int), np.zeros(101), states, np.zeros(101, bool)
    fits = WorldModel(Gaussian(1.0), 1, method="exact").fit(*(column[:100] for column in columns))
    assert fits.rank_ == 100
    with pytest.raises(MemoryError, match=r"101 .* pairs .* 0\.\d+ GB.*method=\"auto\""):
        WorldModel(Gaussian(1.0), 1, method="exact").fit(*columns).reward(states)
