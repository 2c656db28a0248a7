"""Agents that set nothing by hand: optimism, the rhythm of plans, scales, copies, interrupts."""

import copy
import itertools
import pickle
import sys
import warnings
from pkgutil import resolve_name

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from powr import POWR
from powr.dynamics import DisplacementMap, DisplacementModel
from powr.kernels import Dirac, Exponential, Matern32
from powr.mirror_descent import settle, softmax
from powr.news import News
from powr.planners import BoxPlanner, FinitePlanner
from powr.settings import SUMMED_ONLY
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor
from tests.powr.snapshot import snapshot
from tests.powr.summed import summed

SCALES = [1e-3, 1.0, 1e3]


class Bandit(gymnasium.Env):
    """Two arms of means 1 and 1.5 and noise 1; an episode is one pull, or 200."""

    def __init__(self, scale: float, pulls: int):
        self.scale, self.pulls = scale, pulls
        self.observation_space, self.action_space = Discrete(1), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, {}

    def step(self, action):
        self.time += 1
        reward = self.scale * (1.0 + 0.5 * action + self.np_random.normal())
        ended = self.time == self.pulls
        return 0, float(reward), ended and self.pulls == 1, ended and self.pulls > 1, {}


class Endless(Corridor):
    """A corridor whose only episode has no end; from the right end one falls back to the left."""

    def __init__(self):
        super().__init__(length=10**9)

    def step(self, action):
        if self.place == 9:
            action = 0
        return super().step(action)


def random_mdp(seed: int, n_states: int = 12, n_actions: int = 3) -> TabularMDP:
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.full(n_states, 0.3), size=(n_states, n_actions))
    return TabularMDP.from_arrays(
        transition,
        rewards=rng.normal(size=(n_states, n_actions)),
        initial_distribution=np.full(n_states, 1 / n_states),
    )


# -- mirror descent until it settles --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1000, 1010))
def test_settling_reaches_an_optimal_policy_at_any_scale_of_rewards(seed):
    mdp, gamma = random_mdp(seed), 0.95
    optimal = mdp.optimal_action_values(gamma)
    greedy = []
    for scale in SCALES:
        settled = settle(
            lambda policy, scale=scale: scale * mdp.action_values(policy, gamma),
            optimal.shape,
            tolerance=1e-10,
        )
        policy = softmax(settled.exponents)
        np.testing.assert_allclose(
            mdp.action_values(policy, gamma), optimal, atol=1e-4 * np.ptp(optimal)
        )
        greedy.append(settled.exponents.argmax(axis=1))
    np.testing.assert_array_equal(greedy[0], optimal.argmax(axis=1))
    np.testing.assert_array_equal(greedy[0], greedy[1])
    np.testing.assert_array_equal(greedy[0], greedy[2])


def test_a_number_of_mirror_steps_is_taken_in_full():
    mdp = random_mdp(1000)
    calls = []

    def evaluate(policy):
        calls.append(policy)
        return mdp.action_values(policy, 0.9)

    settled = settle(evaluate, (12, 3), tolerance=1.0, step_size=0.5, mirror_steps=7)
    assert len(calls) == settled.n_steps == 7
    total = 0.5 * sum(mdp.action_values(policy, 0.9) for policy in calls)
    np.testing.assert_allclose(settled.exponents, total)


# -- finite states --------------------------------------------------------------------------------


def finite_planner(**settings):
    defaults = {
        "gamma": 0.9,
        "prior": None,
        "regularization": None,
        "step_size": None,
        "mirror_steps": None,
        "plan_within_episodes": True,
    }
    return FinitePlanner(2, **(defaults | settings))


@pytest.mark.parametrize("prior", [None, 20.0])
def test_the_untried_is_preferred_while_acting_and_never_shown(prior):
    planner = finite_planner(prior=prior)
    planner.observe((0, 0, 1.0, 1, False), False)
    planner.observe((1, 1, 5.0, 2, True), True)
    planner.plan()
    np.testing.assert_array_equal(planner.policy.greedy([0, 1]), [1, 0])
    np.testing.assert_array_equal(planner.shown.greedy([0, 1]), [0, 1])


@pytest.mark.parametrize(("reward", "preferred"), [(0.5, 0), (-0.5, 1)])
def test_the_untried_is_worth_the_best_return_seen(reward, preferred):
    """Action 0 pays a little and leads to the best return, action 1 to a state never left."""
    planner = finite_planner(gamma=0.5)
    planner.observe((0, 0, reward, 1, False), False)
    planner.observe((1, 0, 8.0, 2, True), True)
    assert planner.returns.best == 8.0
    planner.observe((0, 1, 0.0, 3, False), False)
    planner.plan()
    assert planner.policy.greedy([0]) == [preferred]


def test_a_plan_is_due_at_the_first_visit_and_as_counts_grow():
    planner = finite_planner()
    due = []
    for visit in range(12):
        due.append(planner.observe((0, 0, float(visit % 2), 0, False), False))
        if due[-1]:
            planner.plan()
    assert due[0]
    assert due[1]  # another reward: the task is random
    assert 3 <= sum(due) <= 8
    assert planner.observe((0, 1, 0.0, 0, False), False)


def test_where_nothing_is_random_a_plan_is_due_at_first_visits_only():
    planner = finite_planner()
    due = [planner.observe((0, 0, 1.0, 0, False), False)]
    planner.plan()
    due += [planner.observe((0, 0, 1.0, 0, False), False) for _ in range(50)]
    assert due == [True] + [False] * 50


def test_in_many_states_plans_wait_for_a_share_of_news():
    """From one new state to the next, as where states hardly ever repeat."""
    news, planned = News(), [0]
    for number in range(1, 2001):
        if news.see((number, 0), (number + 1, -1.0, False)):
            planned.append(number)
            news.pairs = set()
    assert planned[:1001] == [*range(1001)]  # at once
    growth = np.divide(planned[1001:], planned[1000:-1])
    np.testing.assert_allclose(growth, 1.01, atol=0.001)


def test_in_many_states_a_plan_does_not_wait_where_a_new_pair_comes_again():
    """The policy goes there until it knows better, as in a room that is never left."""
    news = News()
    for state in range(1500):
        news.see((state, 0), (state + 1, -1.0, False))
    news.pairs = set()
    assert not news.see((7, 0), (8, -1.0, False))
    assert not news.see((7, 1), (7, -1.0, False))
    assert news.see((7, 1), (7, -1.0, False))


def test_in_many_states_an_episode_ends_with_a_plan():
    planner = finite_planner()
    for state in range(1500):
        planner.observe((state, 0, -1.0, state + 1, False), False)
    planner.plan()
    assert not planner.observe((1500, 0, -1.0, 1501, False), False)
    assert planner.observe((1501, 0, -1.0, 1502, False), True)


def test_plans_wait_for_the_end_of_the_episode_where_that_is_asked_for():
    planner = finite_planner(plan_within_episodes=False)
    assert not planner.observe((0, 0, 1.0, 1, False), False)
    assert planner.observe((1, 0, 1.0, 0, False), True)


@pytest.mark.parametrize("pulls", [1, 200])
@pytest.mark.parametrize("scale", SCALES)
def test_the_better_of_two_arms_is_found(scale, pulls):
    seeds = range(1000, 1030)
    arms = [
        POWR(Bandit(scale, pulls), seed=seed).learn(200).predict(0, deterministic=True)[0]
        for seed in seeds
    ]
    assert sum(arms) >= 28


def test_a_task_that_never_ends_is_learned():
    agent = POWR(Endless(), seed=1000).learn(400)
    assert agent.episode_returns == []
    np.testing.assert_array_equal(agent.predict(range(9), deterministic=True)[0], np.ones(9))


def test_a_box_task_that_never_ends_is_planned_for():
    env = gymnasium.make("MountainCar-v0", max_episode_steps=-1)
    agent = POWR(env, seed=1000).learn(150)
    assert agent.n_plans_ > 1
    assert np.ptp(agent.action_probabilities([[-0.5, 0.01]])) > 0


# -- boxes ----------------------------------------------------------------------------------------


def linear_system(n=300):
    """x' = A x + b_a, ended where the first dimension passes 0.85; every step costs 1."""
    rng = np.random.default_rng(1000)
    matrix = np.array([[0.95, 0.1], [-0.1, 0.9]])
    pushes = np.array([[0.1, 0.0], [-0.1, 0.05]])
    states = rng.uniform([-0.85, -1.0], [0.85, 1.0], (n, 2))
    actions = rng.integers(2, size=n)
    next_states = states @ matrix.T + pushes[actions]
    terminated = np.abs(next_states[:, 0]) > 0.85
    return (states, actions, -np.ones(n), next_states, terminated), matrix, pushes


def model_of(columns, **settings):
    return DisplacementModel(columns, 2, gamma=0.9, prior=0.0, value_range=(-10.0, 0.0), **settings)


def test_the_map_of_a_linear_system_is_exact():
    columns, matrix, pushes = linear_system()
    model = model_of(columns)
    states = np.random.default_rng(1001).uniform(-0.8, 0.8, (100, 2))
    predicted = model.map(states / model.scale)
    for action in range(2):
        expected = states @ matrix.T + pushes[action] - states
        np.testing.assert_allclose(predicted[:, action, :2] * model.scale, expected, atol=1e-3)
    np.testing.assert_allclose(predicted[:, :, 2], -1.0, atol=1e-3)


def test_terminal_states_are_worth_nothing_and_others_their_cost():
    columns, *_ = linear_system()
    model = model_of(columns)
    ends = columns[3][columns[4]] / model.scale
    inside = model.value(np.array([[0.0, 0.0]]) / model.scale)[0]
    assert inside < -2.0
    # The ridge of the values blurs the border a little.
    assert np.abs(model.value(ends)).mean() < 0.05 * abs(inside)
    is_end = (model.centers[:, None] == ends).all(axis=2).any(axis=1)
    assert is_end.sum() == columns[4].sum()
    np.testing.assert_array_equal(model.values[is_end], 0.0)
    assert (model.values[~is_end] < 0).all()


@pytest.mark.parametrize("mirror_steps", [1, 5, 40])
def test_the_policy_of_given_steps_is_that_of_their_sum(mirror_steps):
    columns, *_ = linear_system()
    model = model_of(columns, step_size=0.3, mirror_steps=mirror_steps)
    summed = model.settled.exponents
    states = model.centers[: len(summed)] * model.scale
    assert np.abs(model(states) - summed).max() < 0.02 * np.abs(summed).max()
    assert np.abs(softmax(model(states)) - softmax(summed)).mean() < 0.01


# -- the same to the bit --------------------------------------------------------------------------

AGENTS = {
    "finite": lambda: POWR(Corridor(), seed=1000),
    "box": lambda: POWR(Corridor(continuous=True), seed=1000),
    "summed": lambda: summed(Corridor(), seed=1000, mirror_steps=2),
}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


@every_agent
def test_an_agent_that_is_stored_at_any_timestep_goes_on_as_if_it_had_not_been(make, tmp_path):
    def saved(agent):
        agent.save(tmp_path / "agent.npz")
        return POWR.load(tmp_path / "agent.npz", make().env)

    def pickled(agent):
        return pickle.loads(pickle.dumps(agent))  # noqa: S301

    total = 42
    uninterrupted = snapshot(make().learn(total))
    agent = make()
    for timestep in range(1, total):
        agent.learn(1)
        for duplicate in (saved, pickled, copy.deepcopy):
            twin = duplicate(agent)
            assert snapshot(twin) == snapshot(agent)
            if timestep % 7 == 1:
                assert snapshot(twin.learn(total - timestep)) == uninterrupted
        if timestep % 5 == 0:
            agent = saved(agent)
    assert snapshot(agent.learn(1)) == uninterrupted


# -- interrupts -----------------------------------------------------------------------------------


def interrupt_first_call(function, *, after):
    """The function, with Ctrl-C at its first call, before or after its work."""
    calls = itertools.count()

    def interrupted(*arguments, **keywords):
        first = next(calls) == 0
        if first and not after:
            raise KeyboardInterrupt
        result = function(*arguments, **keywords)
        if first:
            raise KeyboardInterrupt
        return result

    return interrupted


# Where an interrupt may come, and in which kind of agent.
INTERRUPTED = {
    "finite": [
        "powr.transitions.Transitions.add",
        "powr.solvers.empirical_mdp.EmpiricalMDP.update",
        "powr.solvers.empirical_mdp.EmpiricalMDP.solve",
        "powr.planners.FinitePlanner.plan",
        "powr.returns.ReturnRange.see",
    ],
    "box": [
        "powr.returns.ReturnRange.see",
        "powr.dynamics.DisplacementMap.__init__",
        "powr.dynamics.DisplacementModel._solve",
        "powr.planners.BoxPlanner.plan",
    ],
}
PLACES = [(kind, place) for kind, places in INTERRUPTED.items() for place in places]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_an_interrupted_plan_leaves_the_old_policy_and_is_made_later(
    kind, place, after, monkeypatch
):
    make = AGENTS[kind]
    observations = range(10) if kind == "finite" else [[i, np.sin(i)] for i in range(10)]
    agent = make().learn(21)
    before = agent._planner.policy.probabilities(observations)
    interrupted = interrupt_first_call(resolve_name(place), after=after)
    with monkeypatch.context() as patch:
        patch.setattr(place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.learn(40)
    if not (after and place.endswith(".plan")):
        kept = agent._planner.policy.probabilities(observations)
        np.testing.assert_array_equal(kept, before)
    assert np.isfinite(agent.action_probabilities(observations)).all()
    without = ("n_plans_", "_before_episode")  # an interrupt may come before a plan is counted
    expected = snapshot(make().learn(61), without=without)
    assert snapshot(agent.learn(61 - agent.num_timesteps), without=without) == expected


class InterruptedAt:
    """Ctrl-C before the n-th line of the agent, its collector, its policy or its environment."""

    MODULES = ("powr.agent", "powr.collecting", "powr.policy", Corridor.__module__)

    def __init__(self, line):
        self.left = line

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)

    def __exit__(self, *_):
        sys.settrace(self.before)

    def trace(self, frame, event, _):
        if frame.f_globals["__name__"] not in self.MODULES:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.trace


@every_agent
def test_an_interrupt_loses_nothing_wherever_it_comes(make):
    """The last steps of an episode and the first of the next one, a plan among them."""
    start, uninterrupted = make().learn(18), snapshot(make().learn(24))
    for line in itertools.count(1):
        agent = copy.deepcopy(start)
        try:
            with warnings.catch_warnings(), InterruptedAt(line):
                warnings.simplefilter("error")
                agent.learn(4)
        except KeyboardInterrupt:
            assert 18 <= agent.num_timesteps <= 22
            assert np.isfinite(agent.action_probabilities(agent._collector.finished[0][0])).all()
        else:
            break
        assert snapshot(agent.learn(24 - agent.num_timesteps)) == uninterrupted, line
    assert line > 100


def test_an_interrupted_episode_that_cannot_be_repeated_is_taken_back_with_a_warning():
    class Unrepeatable(Corridor):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=self.n_resets)

    def interrupt(agent):
        if agent.num_timesteps == 17:
            raise KeyboardInterrupt

    agent = POWR(Unrepeatable())
    with pytest.raises(KeyboardInterrupt):
        agent.learn(50, callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted, .* 7 timesteps were taken back") as caught:
        agent.learn(3)
    assert caught[0].filename == __file__
    assert agent.num_timesteps == 13


# -- settings -------------------------------------------------------------------------------------

FINITE_SETTINGS = {
    "kernel": Dirac(),
    "gamma": 0.5,
    "step_size": 0.1,
    "mirror_steps": 3,
    "regularization": 0.5,
    "prior": 7.0,
    "plan_within_episodes": False,
}
BOX_SETTINGS = {
    "kernel": Matern32(0.5),
    "gamma": 0.5,
    "step_size": 0.1,
    "mirror_steps": 3,
    "prior": 70.0,
    "plan_within_episodes": False,
}


@pytest.mark.parametrize("name", FINITE_SETTINGS)
def test_every_setting_of_a_finite_agent_can_be_set_by_hand(name):
    def make(**settings):
        return POWR(Corridor(), seed=1000, **settings).learn(35)

    agent = make(**{name: FINITE_SETTINGS[name]})
    assert getattr(agent, name) == FINITE_SETTINGS[name]
    if name != "kernel":  # the Dirac kernel is the only one there is
        assert snapshot(agent)["_current"] != snapshot(make())["_current"]


@pytest.mark.parametrize("name", BOX_SETTINGS)
def test_every_setting_of_a_box_agent_can_be_set_by_hand(name):
    def make(**settings):
        return POWR(Corridor(continuous=True), seed=1000, **settings).learn(35)

    agent = make(**{name: BOX_SETTINGS[name]})
    assert getattr(agent, name) == BOX_SETTINGS[name]
    assert snapshot(agent)["_current"] != snapshot(make())["_current"]


SUMMED_VALUES = {
    "episodes_per_epoch": 2,
    "epoch_growth": 0.5,
    "method": "exact",
    "tolerance": 1e-3,
    "max_rank": 7,
}


@pytest.mark.parametrize("name", SUMMED_ONLY)
@pytest.mark.parametrize("continuous", [False, True])
def test_a_setting_of_the_papers_alternation_alone_asks_for_it(name, continuous):
    given = {name: SUMMED_VALUES[name]}
    with pytest.raises(ValueError, match=f"{name} is a setting of the paper's.*summed=True"):
        POWR(Corridor(continuous=continuous), **given)
    assert getattr(summed(Corridor(continuous=continuous), **given).learn(25), name) == given[name]


def test_a_kernel_that_the_planner_cannot_use_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"does not suit finite observations.*summed=True"):
        POWR(Corridor(), kernel=Exponential(1.0))
    with pytest.raises(ValueError, match=r"not a function of distances.*summed=True"):
        POWR(Corridor(continuous=True), kernel=Dirac())
    with pytest.raises(ValueError, match=r"regularization in a box.*summed=True"):
        POWR(Corridor(continuous=True), regularization=0.1)


@pytest.mark.parametrize("make", [Corridor, lambda: Corridor(continuous=True)])
def test_what_was_chosen_is_said_with_the_reason(make):
    agent = POWR(make(), seed=1000).learn(60)
    assert {"kernel", "gamma", "prior"} <= set(agent.settings_)
    for value, reason in agent.settings_.values():
        assert value is not None
        assert isinstance(reason, str)
    assert isinstance(agent._planner, FinitePlanner | BoxPlanner)


@pytest.mark.parametrize(
    ("episodes", "best", "reason"),
    [
        ([], 1.0, "nothing was seen"),
        ([[-1.0, -1.0, -1.0], [-1.0]], -1.0, "best discounted return-to-go seen"),
        ([[0.0, 8.0]], 8.0, "best discounted return-to-go seen"),  # its end was what paid
        ([[1.0, 1.0, 1.0]], 2.0, "at every step for ever"),
        ([[0.0], [0.0]], 1.0, "are alike"),
    ],
)
def test_the_prior_is_said_to_be_what_it_is(episodes, best, reason):
    planner = finite_planner(gamma=0.5)
    for rewards in episodes:
        for time, reward in enumerate(rewards, 1):
            ended = time == len(rewards)
            planner.observe((0, 0, reward, 0, ended), ended)
    value, why = planner.chosen()["prior"]
    assert value == planner.returns.best == best
    assert reason in why


def test_no_step_predicted_beyond_the_data_is_longer_than_those_seen():
    states = np.linspace(0.0, 1.0, 20)[:, None]
    targets = np.hstack([states, np.zeros((20, 1))])  # steps grow with the state
    learned = DisplacementMap(states, np.zeros(20, int), targets, 1)
    np.testing.assert_allclose(learned(np.array([[0.5], [3.0]]))[:, 0, 0], [0.5, 1.0], atol=1e-3)
