"""OptimisticPOWR with other planners: all find the optimum, and differ in nothing else."""

import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR
from planners.optimistic_one_imagined_visit import OptimisticOneImaginedVisit
from planners.optimistic_policy_iteration import OptimisticPolicyIteration
from planners.optimistic_value_iteration import OptimisticValueIteration

from extension.tests.models import displacement_model, linear_system
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor

GAMMA = 0.95
PLANNERS = [OptimisticPOWR, OptimisticPolicyIteration, OptimisticValueIteration]
others = pytest.mark.parametrize("planner", PLANNERS[1:])
every_planner = pytest.mark.parametrize("planner", PLANNERS)


def random_steps(seed, n_states=12, n_actions=2):
    """Every pair once, with an outcome of its own; some end the episode."""
    rng = np.random.default_rng(seed)
    return [
        (state, action, rng.normal(), int(rng.integers(n_states)), bool(rng.random() < 0.1))
        for state in range(n_states)
        for action in range(n_actions)
    ]


def table_of(steps, n_states=12, n_actions=2):
    transition = np.zeros((n_states, n_actions, n_states))
    rewards = np.zeros((n_states, n_actions))
    for state, action, reward, next_state, terminated in steps:
        transition[state, action, next_state] = not terminated
        rewards[state, action] = reward
    return TabularMDP.from_arrays(
        transition, rewards=rewards, initial_distribution=np.full(n_states, 1 / n_states)
    )


def planned(planner, steps):
    agent = planner(Corridor(length=12), gamma=GAMMA, seed=1000)
    finite = taught(agent, [(step, True) for step in steps])
    finite.plan()
    return finite


def taught(agent, steps):
    """The agent's planner when it has seen these transitions."""
    for step, ended in steps:
        agent.data.append(step, ended)
        agent._planner.observe(step, ended)
    return agent._planner


@every_planner
@pytest.mark.parametrize("seed", range(1000, 1003))
def test_a_plan_is_the_optimum_of_exact_dynamic_programming(planner, seed):
    steps = random_steps(seed)
    mdp, plan = table_of(steps), planned(planner, steps)
    optimal = mdp.optimal_action_values(GAMMA)
    for policy in (plan.policy, plan.target_policy):
        found = mdp.action_values(policy.probabilities(range(12)), GAMMA)
        np.testing.assert_allclose(found, optimal, atol=1e-4 * np.ptp(optimal))
        np.testing.assert_array_equal(policy.greedy(range(12)), optimal.argmax(axis=1))


def test_the_planners_agree_in_a_box():
    columns, *_ = linear_system()
    mirror, policy, value = (
        displacement_model(columns, planning=planner._planning) for planner in PLANNERS
    )
    for other in (policy, value):
        np.testing.assert_array_equal(other.centers, mirror.centers)
        # Each ends where a sweep changes 1e-4 of the range; the horizon is 10 sweeps.
        tolerance = 1e-3 * np.ptp(mirror.values)
        np.testing.assert_allclose(other.values, mirror.values, atol=tolerance)
    assert policy.settled.n_steps < value.settled.n_steps


@others
def test_it_learns_in_finite_spaces_and_boxes(planner):
    for continuous in (False, True):
        agent = planner(Corridor(continuous=continuous), seed=1000).learn(150)
        assert agent.n_plans_ > 1
        assert max(agent.episode_returns[-3:]) == max(agent.episode_returns)


def test_imagined_visits_grow_with_the_visits_but_for_the_variant_with_one():
    steps = [((0, 0, float(seed % 2), 1, False), True) for seed in range(40)]
    imagined = {}
    for planner in (OptimisticPOWR, OptimisticOneImaginedVisit):
        finite = taught(planner(Corridor(), seed=1000), steps)
        finite.plan()
        value, reason = finite.chosen()["regularization"]
        assert "outcomes vary" in reason
        imagined[planner] = value * len(steps)
    assert imagined[OptimisticPOWR] == pytest.approx(2 * np.log(40))
    assert imagined[OptimisticOneImaginedVisit] == pytest.approx(1)
