"""Tasks on which the extension failed without a word: costs, noise, constants; and its warnings.

The tasks are those of `tasks.operations` with parameters of their own; seeds are from 1100 up.
"""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from optimistic_powr import OptimisticPOWR
from tasks.operations import Inventory, Outcome, Pricing, QueueAdmission, TableEnv

from powr.kernels import Table
from powr.mirror_descent import TablePolicy
from powr.tabular import TabularMDP


def shop():
    """Orders are best made up to a stock of 8."""
    costs = {"order": 0.0, "unit": 2.0, "held": 0.2, "missed": 6.0}
    return TimeLimit(Inventory(capacity=30, largest_order=10, demand=4.0, **costs), 50)


def noisy_queue():
    fees, shares = (1.0, 3.0, 6.0), (0.4, 0.35, 0.25)
    return TimeLimit(QueueAdmission(15, fees, shares, served=0.45, waiting=0.1), 200)


def seats():
    """What is unsold after 30 steps is lost; a customer who would pay the top price is rare."""
    return TimeLimit(Pricing(seats=8, prices=15, middle=8.0, spread=2.0), 30)


def slippery_grid(constant, side=10):
    """Every step costs the distance to a cell, and pays the same constant; a fifth go astray."""
    moves, goal = [(1, 0), (-1, 0), (0, 1), (0, -1)], (4, 4)

    def outcome(cell, move, probability):
        row, column = np.clip(np.add(cell, move), 0, side - 1)
        distance = abs(row - goal[0]) + abs(column - goal[1])
        return Outcome(probability, int(row * side + column), constant - distance / side)

    table = [
        [[outcome(cell, move, 0.8), outcome(cell, (0, 0), 0.2)] for move in moves]
        for cell in np.ndindex(side, side)
    ]
    return TimeLimit(TableEnv((side * side,), table, np.full(side * side, side**-2)), 50)


def shown(agent):
    """The probabilities of the policy that `predict` shows, in every state of the table."""
    shape = agent.env.unwrapped.shape
    states = list(np.ndindex(*shape))
    return agent.action_probabilities(np.ravel(states) if len(shape) == 1 else np.array(states))


def greedy(policy):
    return np.eye(policy.shape[1])[policy.argmax(axis=1)]


def test_costs_under_a_time_limit_do_not_lead_to_actions_never_tried():
    """The optimum is that of 50 steps from an empty store, by exact dynamic programming."""
    mdp = TabularMDP.from_env(shop())
    returns = [
        mdp.expected_return(greedy(shown(OptimisticPOWR(shop(), seed=seed).learn(4000))))
        for seed in range(1100, 1107)
    ]
    assert sorted(returns)[1] >= 1.08 * mdp.optimal_return()


def test_the_policy_shown_is_no_more_patient_than_the_time_limit_allows():
    mdp = TabularMDP.from_env(seats())
    optimum = mdp.optimal_return()
    at_random = mdp.expected_return(np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions))
    returns = [
        mdp.expected_return(shown(OptimisticPOWR(seats(), seed=seed).learn(4000)))
        for seed in range(1100, 1107)
    ]
    assert sorted(returns)[1] >= at_random + 0.5 * (optimum - at_random)


@pytest.mark.parametrize("seed", [1100, 1101, 1102])
def test_acting_under_noise_settles(seed):
    mdp = TabularMDP.from_env(noisy_queue())
    agent = OptimisticPOWR(noisy_queue(), seed=seed).learn(20_000)
    assert np.mean(agent.episode_returns[-10:]) >= 0.8 * mdp.expected_return(shown(agent))
    assert mdp.expected_return(shown(agent)) >= 0.9 * mdp.optimal_return()


def test_a_constant_reward_does_not_blur_the_policy_shown():
    """Unvisited pairs lie so far below that they must not set the temperature of the others."""
    mdp = TabularMDP.from_env(slippery_grid(0.0))
    policy = shown(OptimisticPOWR(slippery_grid(1000.0), seed=1100).learn(1500))
    by_chance, best = mdp.expected_return(policy), mdp.expected_return(greedy(policy))
    assert by_chance == pytest.approx(best, abs=0.02 * abs(best))


# -- the health check -----------------------------------------------------------------------------

HEALTHY = {
    "FrozenLake-v1": ({"is_slippery": False}, 500),
    "FrozenLake-v1 (slippery)": ({"is_slippery": True}, 5000),
    "Taxi-v3": ({}, 4000),
    "CliffWalking-v1": ({"max_episode_steps": 200}, 1000),
    "MountainCar-v0": ({}, 3000),
    "CartPole-v1": ({}, 2000),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_wrong_where_all_is_well(name):
    options, timesteps = HEALTHY[name]
    env = gymnasium.make(name.split()[0], **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = OptimisticPOWR(env, seed=1100).learn(timesteps)
    assert not set(agent.settings_) & {*FAULTS, "observations", "rewards", "lost_best"}


def short_training():
    return OptimisticPOWR("CartPole-v1", seed=1100).learn(5)


def nothing_ever_paid():
    return OptimisticPOWR("FrozenLake8x8-v1", seed=1100).learn(700)


def optimism_shown():
    return OptimisticPOWR(shop(), cautious=False, seed=1100).learn(200)


def worst_policy_shown():
    """The policy that predict shows is replaced, as a fault in it would."""
    agent = OptimisticPOWR(noisy_queue(), seed=1100).learn(5000)
    planner = agent._planner
    never_admit = np.zeros((len(planner.data.index), 2))
    never_admit[:, QueueAdmission.REFUSE] = 1e6
    table = Table(planner.data.index, never_admit)
    planner._target = TablePolicy(table), table, 0.0
    agent._warn(agent.health_)
    return agent


def values_beyond_rewards():
    agent = OptimisticPOWR("CartPole-v1", seed=1100).learn(40)
    agent._planner.model._coefficients *= 1e6
    agent._warn(agent.health_)
    return agent


FAULTS = {
    "no_epoch": short_training,
    "equal_returns": nothing_ever_paid,
    "unvisited_actions": optimism_shown,
    "worse_than_training": worst_policy_shown,
    "overshoot": values_beyond_rewards,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_warned_of_and_among_the_settings(fault):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent = FAULTS[fault]()
    is_wrong, message = agent.settings_[fault]
    assert is_wrong
    assert message in [str(warning.message) for warning in caught]


def test_rewards_whose_scale_shifts_are_warned_of():
    env = gymnasium.wrappers.NormalizeReward(gymnasium.make("FrozenLake-v1"))
    with pytest.warns(UserWarning, match="NormalizeReward"):
        OptimisticPOWR(env, seed=1100).learn(10)


def test_a_loaded_agent_keeps_the_horizon_of_its_training(tmp_path):
    agent = OptimisticPOWR(seats(), seed=1100).learn(2000)
    agent.save(tmp_path / "agent.npz")
    longer = TimeLimit(seats().env, 3000)
    loaded = OptimisticPOWR.load(tmp_path / "agent.npz", longer)
    np.testing.assert_array_equal(shown(loaded), shown(agent))
