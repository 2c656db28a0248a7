"""The extension: optimism, the rhythm of plans, scales of rewards, and what is chosen and said."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from optimistic_powr import OptimisticPOWR
from optimistic_powr.diagnosis import lost_best
from optimistic_powr.finite_planner import FinitePlanner
from optimistic_powr.growing_steps import settle
from optimistic_powr.track_record import TrackRecord
from optimistic_powr.visits import Visits

from extension.tests.models import displacement_model, linear_system
from powr.data import History
from powr.kernels import Dirac, Exponential, Matern52
from powr.mirror_descent import softmax
from powr.tabular import TabularMDP
from tests.powr.environments import PLACES, Corridor, Paid

SCALES = [1e-3, 1.0, 1e3]


def random_mdp(seed: int, n_states: int = 12, n_actions: int = 3) -> TabularMDP:
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.full(n_states, 0.3), size=(n_states, n_actions))
    return TabularMDP.from_arrays(
        transition,
        rewards=rng.normal(size=(n_states, n_actions)),
        initial_distribution=np.full(n_states, 1 / n_states),
    )


# -- mirror descent until it settles --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1000, 1003))
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
    np.testing.assert_array_equal(greedy, [optimal.argmax(axis=1)] * len(SCALES))


# -- finite states --------------------------------------------------------------------------------


class Planner(FinitePlanner):
    """A planner that keeps what it observes, as an agent would."""

    def __init__(self, **settings):
        defaults = {
            "gamma": 0.9,
            "prior": None,
            "regularization": None,
            "step_size": None,
            "mirror_steps": None,
            "plan_within_episodes": True,
        }
        super().__init__(History(()), 2, **(defaults | settings))

    def observe(self, transition, ended):
        if self.history.size == 0 or self.history.ended[-1]:
            self.begin_episode()
        self.history.append(transition, ended)
        return super().observe(transition, ended)


@pytest.mark.parametrize("prior", [None, 20.0])
def test_the_untried_is_preferred_while_acting_and_never_shown(prior):
    planner = Planner(prior=prior)
    planner.observe((0, 0, 0.0, 1, False), False)
    planner.observe((1, 1, 5.0, 2, True), True)
    planner.plan()
    np.testing.assert_array_equal(planner.policy.greedy([0, 1]), [1, 0])
    np.testing.assert_array_equal(planner.target_policy.greedy([0, 1]), [0, 1])


@pytest.mark.parametrize(("reward", "preferred"), [(0.5, 0), (-0.5, 1)])
def test_the_untried_is_worth_the_best_return_seen(reward, preferred):
    """Action 0 pays a little and leads to the best return, action 1 to a state never left."""
    planner = Planner(gamma=0.5)
    planner.observe((0, 0, reward, 1, False), False)
    planner.observe((1, 0, 8.0, 2, True), True)
    assert planner.returns.best == 8.0
    planner.observe((0, 1, 0.0, 3, False), False)
    planner.plan()
    assert planner.policy.greedy([0]) == [preferred]


def test_where_nothing_is_random_a_plan_is_due_at_first_visits_only():
    planner = Planner()
    due = [planner.observe((0, 0, -1.0, 0, False), False)]
    planner.plan()
    due += [planner.observe((0, 0, -1.0, 0, False), False) for _ in range(50)]
    assert due == [True] + [False] * 50


def test_a_reward_that_becomes_income_is_worth_a_plan():
    """The optimism of unvisited pairs rises with it."""
    planner = Planner()
    due = []
    for _ in range(10):
        due.append(planner.observe((0, 0, 1.0, 0, False), False))
        if due[-1]:
            planner.plan()
    assert np.flatnonzero(due).tolist() == [0, 4]


def test_in_many_states_plans_wait_for_a_share_of_news():
    """From one new state to the next, as where states hardly ever repeat."""
    visits, planned = Visits(), [0]
    for number in range(1, 2001):
        if visits.observe((number, 0), (number + 1, -1.0, False)):
            planned.append(number)
            visits.unplanned = set()
    assert planned[:1001] == [*range(1001)]  # at once
    growth = np.divide(planned[1001:], planned[1000:-1])
    np.testing.assert_allclose(growth, 1.01, atol=0.001)
    visits.unplanned = set()
    once_more = [visits.observe((5000, 0), (5001, -1.0, False)) for _ in range(2)]
    assert once_more == [False, True]  # an unplanned pair that is revisited does not wait


# -- boxes ----------------------------------------------------------------------------------------


def test_the_map_of_a_linear_system_is_exact():
    columns, matrix, pushes = linear_system()
    model = displacement_model(columns)
    states = np.random.default_rng(1001).uniform(-0.8, 0.8, (100, 2))
    predicted = model.map(states / model.scale)
    for action in range(2):
        expected = states @ matrix.T + pushes[action] - states
        np.testing.assert_allclose(predicted[:, action, :2] * model.scale, expected, atol=1e-3)
    np.testing.assert_allclose(predicted[:, :, 2], -1.0, atol=1e-3)


@pytest.mark.parametrize("mirror_steps", [1, 5, 40])
def test_the_policy_of_given_steps_is_that_of_their_sum(mirror_steps):
    columns, *_ = linear_system()
    model = displacement_model(columns, step_size=0.3, mirror_steps=mirror_steps)
    summed = model.settled.exponents
    states = model.centers[: len(summed)] * model.scale
    assert np.abs(model(states) - summed).max() < 0.02 * np.abs(summed).max()
    assert np.abs(softmax(model(states)) - softmax(summed)).mean() < 0.01


# -- settings -------------------------------------------------------------------------------------

SETTINGS = {
    "kernel": Matern52(0.5),
    "gamma": 0.5,
    "step_size": 0.1,
    "mirror_steps": 3,
    "regularization": 0.5,
    "prior": 70.0,
    "plan_within_episodes": False,
}


REFUSED = {("kernel", False), ("regularization", True)}


@pytest.mark.parametrize(
    ("name", "continuous"), sorted({(name, box) for name in SETTINGS for box in (0, 1)} - REFUSED)
)
def test_every_setting_can_be_set_by_hand(name, continuous):
    """It changes the training, and is no longer among the `settings_` that were chosen."""
    env, places = Corridor(continuous=continuous), PLACES[continuous]
    plain, agent = (
        OptimisticPOWR(env, seed=1000, **given).learn(35) for given in ({}, {name: SETTINGS[name]})
    )
    exponents = [each._behaviour()(places) for each in (plain, agent)]
    assert agent.n_plans_ != plain.n_plans_ or not np.array_equal(*exponents)
    assert all(reason for _, reason in plain.settings_.values())
    assert name not in agent.settings_


def test_a_kernel_that_the_planner_cannot_use_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"does not suit finite observations.*use POWR"):
        OptimisticPOWR(Corridor(), kernel=Exponential(1.0))
    with pytest.raises(ValueError, match=r"not a function of distances.*use POWR"):
        OptimisticPOWR(Corridor(continuous=True), kernel=Dirac())
    with pytest.raises(ValueError, match=r"regularization has no effect in a box.*use POWR"):
        OptimisticPOWR(Corridor(continuous=True), regularization=0.1)


@pytest.mark.parametrize(
    ("episodes", "best", "reason"),
    [
        ([], 1.0, "nothing was seen"),
        ([[-1.0, -1.0, -1.0], [-1.0]], -1.0, "best discounted return-to-go seen"),
        ([[0.0, 8.0]], 8.0, "best discounted return-to-go seen"),  # its end was what paid
        ([[1.0] * 6], 2.0, "largest repeated reward so far at every step"),
        ([[1.0] * 5], 1.9375, "best discounted return-to-go seen"),  # the last one at its end
        ([[0.0, 9.0, 0.0, 0.0, 0.0, 0.0]], 9.0, "best discounted return-to-go seen"),  # once only
        ([[0.0], [0.0]], 1.0, "are alike"),
    ],
)
def test_the_prior_is_said_to_be_what_it_is(episodes, best, reason):
    planner = Planner(gamma=0.5)
    for rewards in episodes:
        for time, reward in enumerate(rewards, 1):
            ended = time == len(rewards)
            planner.observe((0, 0, reward, 0, ended), ended)
    value, why = planner.chosen()["prior"]
    assert value == planner.returns.best == best
    assert reason in why


# -- what is kept, and what is said of failures ---------------------------------------------------


class Navigation(gymnasium.Env):
    """Four moves of 0.08 in the unit square; a disc in it pays 1 and ends the episode."""

    def __init__(self):
        self.observation_space, self.action_space = Box(0.0, 1.0, (2,), np.float64), Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = self.np_random.uniform(0.0, 0.5, 2), 0
        return self.place.copy(), {}

    def step(self, action):
        move = 0.08 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])[action]
        self.place, self.time = np.clip(self.place + move, 0.0, 1.0), self.time + 1
        there = bool(np.hypot(*(self.place - 0.8)) < 0.1)
        return self.place.copy(), float(there), there, self.time == 200, {}


def test_a_goal_that_pays_on_termination_is_reached_in_a_box():
    agent = OptimisticPOWR(Navigation(), seed=1000).learn(1000)
    assert agent.episode_returns[-10:] == [1.0] * 10
    smeared = OptimisticPOWR(Navigation(), terminal_values=False, seed=1000).learn(1000)
    assert sum(smeared.episode_returns) < sum(agent.episode_returns)


def test_the_reward_of_a_terminating_step_is_the_value_of_its_end():
    (states, actions, rewards, next_states, terminated), *_ = linear_system()
    rewards = np.where(terminated, 5.0, rewards)
    model = displacement_model((states, actions, rewards, next_states, terminated))
    np.testing.assert_allclose(model.map(states / model.scale)[:, :, 2], -1.0, atol=1e-3)
    q = model.action_values(states[terminated])
    paid = q[np.arange(len(q)), actions[terminated]]
    np.testing.assert_allclose(paid, 5.0, atol=0.5)


def test_the_value_kernel_is_narrow_until_anything_was_learned():
    columns, *_ = linear_system()
    assert displacement_model(columns).kernel.bandwidth == 2.0
    nothing = (*columns[:4], np.zeros_like(columns[4]))
    assert displacement_model(nothing).kernel.bandwidth == 0.2


def test_the_best_plan_is_chosen_only_where_the_last_episodes_are_clearly_worse():
    record = TrackRecord()
    assert record.choose("newest") == "newest"
    for episode in range(8):
        record.add(100.0 + episode % 2, f"good {episode}")
    assert record.choose("newest") == "newest"
    for episode in range(8):  # worse on average, but by less than its standard error
        record.add(80.0 + 38 * (episode % 2), "uneven")
    assert record.choose("newest") == "newest"
    for episode in range(8):
        record.add(50.0 + episode % 2, "bad")
    assert record.choose("newest") == "good 7"


def test_the_luckiest_of_many_windows_is_not_taken_for_a_better_plan():
    older = 0
    for seed in range(1000, 1040):
        record, rng = TrackRecord(), np.random.default_rng(seed)
        for episode in range(200):
            record.add(rng.normal(), episode)
        older += record.choose("newest") != "newest"
    assert older < 10  # 33 by a margin of one standard error


def collapsed(**settings):
    """An agent in a box whose last episodes were worse than those before."""
    agent = OptimisticPOWR(Navigation(), seed=1000, **settings).learn(600)
    for _ in range(12):  # what is collected in a broken environment counts like all else
        agent.env.place = np.full(2, 0.5)
        agent._interface.env.step = lambda action: (np.full(2, 0.5), -1.0, True, False, {})
        agent.learn(1)
    return agent


def test_an_older_plan_is_shown_after_a_collapse_and_survives_a_file(tmp_path):
    places = np.random.default_rng(1000).uniform(0, 1, (20, 2))
    agent = collapsed()
    shown = agent._planner._record.choose(agent._planner._newest)
    assert shown is not agent._planner._newest
    assert not np.array_equal(
        collapsed(keep_best=False).action_values(places), agent.action_values(places)
    )
    agent.save(tmp_path / "agent.npz")
    twin = OptimisticPOWR.load(tmp_path / "agent.npz", Navigation())
    np.testing.assert_array_equal(twin.action_values(places), agent.action_values(places))
    agent._current = None  # as after an interrupt
    np.testing.assert_array_equal(twin.action_values(places), agent.action_values(places))


def test_in_a_box_the_policy_shown_has_no_optimism():
    agent = OptimisticPOWR(Navigation(), seed=1000).learn(300)
    acting, target = agent.model_, agent._planner._target_model()
    assert acting.prior == 1.0
    assert target.prior == acting.values.min() < acting.prior
    agent.cautious = False
    agent._current = None
    assert agent._planner._target_model() is agent.model_


def test_bad_luck_at_first_does_not_rule_a_pair_out_for_ever():
    """Arm 1 is the better one, but was seen to fail twice; arm 0 is visited a thousand times."""
    planner = Planner(gamma=0.5)
    for _ in range(2):
        planner.observe((0, 1, 0.0, 1, True), True)
    for visit in range(1000):
        planner.observe((0, 0, float(visit % 2), 1, True), True)
    planner.plan()
    assert planner.policy.greedy([0]) == [1]


def test_a_best_return_that_never_came_again_is_a_failure_and_noise_is_not():
    lost = [1.0, *[0.0] * 38, 0.5]
    assert "best return so far, 1, came in episode 1 of 40" in lost_best(lost)
    assert lost_best(lost[:-1]) is None  # too few episodes
    rng = np.random.default_rng(1000)
    assert not any(lost_best(list(rng.normal(size=200))) for _ in range(500))


def test_a_fault_is_warned_of_once_and_said_among_the_settings():
    agent = OptimisticPOWR(Paid(0.0), seed=1000)
    with pytest.warns(UserWarning, match="all 50 episodes so far had the return 0"):
        agent.learn(500)
    assert "nothing was learned" in agent.settings_["equal_returns"][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(100)


def test_observations_whose_scale_shifts_are_warned_of():
    env = gymnasium.wrappers.NormalizeObservation(gymnasium.make("MountainCar-v0"))
    with pytest.warns(UserWarning, match="NormalizeObservation changes its scale.*leave the wrapp"):
        OptimisticPOWR(env, seed=1000).learn(10)
