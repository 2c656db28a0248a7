"""The finite peers against exact dynamic programming."""

import gymnasium
import numpy as np
import pytest

from baselines.classic.agent import Step
from baselines.classic.dyna_q import DynaQ
from baselines.classic.optimistic_q import OptimisticQ
from baselines.classic.planning import value_iteration
from baselines.classic.psrl import PSRL
from baselines.classic.rmax import RMax
from powr.tabular import TabularMDP, greedy_policy
from tests.baselines.classic.table_env import TableEnv, random_mdp

GAMMA = 0.9
# So optimistic that every pair is tried.
OPTIMISM = 1000.0

seeds = pytest.mark.parametrize("seed", [0, 1, 2])


def regret(mdp, agent):
    """How far the greedy policy falls short of the best, where random actions fall short by 1."""
    best, uniform, found = (
        mdp.objective(policy, GAMMA)
        for policy in (
            greedy_policy(mdp.optimal_action_values(GAMMA)),
            np.full(mdp.rewards.shape, 1 / mdp.n_actions),
            greedy_policy(agent.q),
        )
    )
    return (best - found) / (best - uniform)


@seeds
def test_value_iteration_finds_the_optimal_values(seed):
    mdp = random_mdp(seed, branches=3, termination=0.1)
    values = value_iteration(mdp.transitions, mdp.rewards, GAMMA, np.full(5, 7.0))
    np.testing.assert_allclose(values, mdp.optimal_action_values(GAMMA), atol=1e-5)


@seeds
@pytest.mark.parametrize(
    ("peer", "constants"),
    [
        (RMax, {"v_max": OPTIMISM, "known_after": 1}),
        (DynaQ, {"initial_value": OPTIMISM, "learning_rate": 1.0, "planning_steps": 10}),
        # Without random actions the values of worse ones would stay a little too high.
        (OptimisticQ, {"initial_value": OPTIMISM, "learning_rate": 1.0, "epsilon": 0.2}),
    ],
)
def test_optimal_values_where_nothing_is_random(seed, peer, constants):
    mdp = random_mdp(seed)
    agent = peer(TableEnv(mdp), seed=seed, gamma=GAMMA, **constants).learn(1500)
    np.testing.assert_allclose(agent.q, mdp.optimal_action_values(GAMMA), atol=1e-3)


@seeds
@pytest.mark.parametrize(
    ("peer", "constants"),
    [
        (RMax, {"v_max": OPTIMISM, "known_after": 100}),
        (
            DynaQ,
            {
                "initial_value": 0.0,
                "learning_rate": 0.02,
                "planning_steps": 10,
                "epsilon": 0.3,
            },
        ),
        (
            PSRL,
            {"prior_visits": 1.0, "reward_mean": 0.0, "reward_std": 1.0, "reward_noise": 0.1},
        ),
    ],
)
def test_a_nearly_optimal_policy_where_steps_are_random(seed, peer, constants):
    mdp = random_mdp(seed, branches=2, termination=0.05)
    agent = peer(TableEnv(mdp), seed=seed, gamma=GAMMA, **constants).learn(3000)
    assert regret(mdp, agent) < 0.1


def test_rmax_plans_as_soon_as_a_pair_is_known():
    mdp = random_mdp(0)
    agent = RMax(TableEnv(mdp), seed=0, v_max=1.0, known_after=2, gamma=GAMMA)
    tried = []

    def watch(agent):
        tried.append(agent.q[agent.model.visits < 2].tolist())
        known = agent.model.visits == 2
        assert (agent.q[known] < 1.0).all()

    agent.learn(30, watch)
    assert all(value == 1.0 for values in tried for value in values)
    assert (agent.model.visits == 2).any()


def test_cautious_rmax_shows_a_policy_of_known_pairs_and_trains_as_before():
    """Where a reward was found, the shown policy takes it; the acting one still tries the rest."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    constants = {"v_max": 1.0, "known_after": 1, "gamma": 0.95}
    plain, cautious = (
        RMax(env, seed=0, cautious=flag, **constants).learn(60) for flag in (False, True)
    )
    np.testing.assert_array_equal(cautious.q, plain.q)
    np.testing.assert_array_equal(
        cautious.action_probabilities(range(16)), plain.action_probabilities(range(16))
    )
    shown, _ = cautious.predict(np.arange(16))
    tried = cautious.model.visits > 0
    assert tried[np.arange(16), shown][tried.any(axis=1)].all()
    assert not tried[np.arange(16), plain.predict(np.arange(16))[0]][tried.any(axis=1)].all()


def test_cautious_rmax_with_all_pairs_known_shows_the_optimum():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    peer = RMax(env, seed=0, v_max=1.0, known_after=1, gamma=0.95, cautious=True).learn(3000)
    optimal = TabularMDP.from_env(env).optimal_action_values(0.95)
    reached = (peer.model.visits > 0).all(axis=1)
    shown, _ = peer.predict(np.flatnonzero(reached))
    best = optimal[reached].max(axis=1)
    np.testing.assert_allclose(optimal[reached, shown], best, atol=1e-4)


def test_psrl_draws_from_the_posterior():
    agent = PSRL(
        TableEnv(random_mdp(0)),
        seed=0,
        prior_visits=2.0,
        reward_mean=1.0,
        reward_std=2.0,
        reward_noise=0.5,
        gamma=GAMMA,
    )
    for next_state, terminated in [(1, False), (1, False), (3, False), (3, True)]:
        agent.model.add(Step(0, 0, 0.5, next_state, terminated, False))
    draws = np.array([agent._draw_transitions().toarray()[:2] for _ in range(2000)])
    # Dirichlet with two visits spread over five states and termination, four visits seen.
    expected = (np.array([0, 2, 0, 1, 0]) + 2 / 6) / 6
    variance = expected * (1 - expected) / (6 + 1)
    np.testing.assert_allclose(draws[:, 0].mean(axis=0), expected, atol=0.015)
    np.testing.assert_allclose(draws[:, 0].var(axis=0), variance, atol=0.004)
    np.testing.assert_allclose(draws[:, 1].mean(axis=0), np.full(5, 1 / 6), atol=0.025)
    rewards = np.array([agent._draw_rewards()[0] for _ in range(2000)])
    precision = 1 / 4 + 4 / 0.25
    np.testing.assert_allclose(rewards[:, 0].mean(), (1 / 4 + 0.5 * 16) / precision, atol=0.025)
    np.testing.assert_allclose(rewards.std(axis=0), [precision**-0.5, 2.0], rtol=0.06)
