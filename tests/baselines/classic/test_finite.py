"""The finite peers against exact dynamic programming."""

import gymnasium
import numpy as np
import pytest

from baselines.classic.dyna_q import DynaQ
from baselines.classic.optimistic_q import OptimisticQ
from baselines.classic.psrl import PSRL
from baselines.classic.rmax import RMax
from powr.tabular import greedy_policy
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
            {"initial_value": 0.0, "learning_rate": 0.02, "planning_steps": 10, "epsilon": 0.3},
        ),
        (PSRL, {"prior_visits": 1.0, "reward_mean": 0.0, "reward_std": 1.0, "reward_noise": 0.1}),
    ],
)
def test_a_nearly_optimal_policy_where_steps_are_random(seed, peer, constants):
    mdp = random_mdp(seed, branches=2, termination=0.05)
    agent = peer(TableEnv(mdp), seed=seed, gamma=GAMMA, **constants).learn(3000)
    assert regret(mdp, agent) < 0.1


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
