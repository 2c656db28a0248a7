"""Finite tasks on which the extension failed without a word: costs, noise, and a constant reward.

The tasks are those of `tasks.operations` with parameters of their own; seeds are from 1100 up.
"""

import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from optimistic_powr import OptimisticPOWR
from tasks.operations import Inventory, Outcome, QueueAdmission, TableEnv

from powr.tabular import TabularMDP


def shop():
    """Orders are best made up to a stock of 8."""
    costs = {"order": 0.0, "unit": 2.0, "held": 0.2, "missed": 6.0}
    return TimeLimit(Inventory(capacity=30, largest_order=10, demand=4.0, **costs), 50)


def noisy_queue():
    fees, shares = (1.0, 3.0, 6.0), (0.4, 0.35, 0.25)
    return TimeLimit(QueueAdmission(15, fees, shares, served=0.45, waiting=0.1), 200)


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
