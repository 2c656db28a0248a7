"""The classical baselines against exact dynamic programming."""

import gymnasium
import numpy as np
import pytest

from baselines.classical.agent import Step
from baselines.classical.cme_value_iteration import CMEValueIteration
from baselines.classical.lspi import LSPI
from baselines.classical.psrl import PSRL
from baselines.classical.q_learning import DynaQ, OptimisticQ
from baselines.classical.rmax import RMax
from baselines.classical.sarsa_lambda import SarsaLambda, TileCoder
from powr.tabular import TabularMDP, greedy_policy
from tests.baselines.classical.table_env import TableEnv, random_mdp

GAMMA = 0.9
# So optimistic that every pair is tried.
OPTIMISM = 1000.0
SLOWLY = {"initial_value": 0.0, "learning_rate": 0.02, "epsilon": 0.3}

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
    ("baseline", "constants"),
    [
        (RMax, {"v_max": OPTIMISM, "known_after": 1}),
        (DynaQ, {"initial_value": OPTIMISM, "learning_rate": 1.0, "planning_steps": 10}),
        # Without random actions the values of worse ones would stay a little too high.
        (OptimisticQ, {"initial_value": OPTIMISM, "learning_rate": 1.0, "epsilon": 0.2}),
    ],
)
def test_optimal_values_where_nothing_is_random(seed, baseline, constants):
    mdp = random_mdp(seed)
    agent = baseline(TableEnv(mdp), seed=seed, gamma=GAMMA, **constants).learn(1500)
    np.testing.assert_allclose(agent.q, mdp.optimal_action_values(GAMMA), atol=1e-3)


@seeds
@pytest.mark.parametrize(
    ("baseline", "constants"),
    [
        (RMax, {"v_max": OPTIMISM, "known_after": 100}),
        (DynaQ, {**SLOWLY, "planning_steps": 10}),
        (PSRL, {"prior_visits": 1.0, "reward_mean": 0.0, "reward_std": 1.0, "reward_noise": 0.1}),
    ],
)
def test_a_nearly_optimal_policy_where_steps_are_random(seed, baseline, constants):
    mdp = random_mdp(seed, branches=2, termination=0.05)
    agent = baseline(TableEnv(mdp), seed=seed, gamma=GAMMA, **constants).learn(3000)
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


def show_every_pair(agent, env):
    """Let the agent see each pair of a deterministic task once, then plan."""
    n_states, n_actions = env.mdp.rewards.shape
    for s, a in np.ndindex(n_states, n_actions):
        goes_to = env.mdp.transitions[[s * n_actions + a]].toarray()[0]
        following, ends = env.points[goes_to.argmax()], not goes_to.any()
        last = (s, a) == (n_states - 1, n_actions - 1)
        agent._update(Step(env.points[s], a, env.mdp.rewards[s, a], following, ends, last))


def with_an_end(mdp):
    """The same task, but the last action of the last state terminates."""
    transitions = mdp.transitions.toarray()
    transitions[-1] = 0.0
    return TabularMDP(transitions, mdp.rewards, mdp.initial_distribution, mdp.horizon)


@seeds
@pytest.mark.parametrize(
    ("baseline", "constants"),
    [
        # A kernel so narrow that states know nothing of each other.
        (CMEValueIteration, {"bandwidth": 1e-3, "resolution": 0.0, "regularization": 1e-9}),
        # As many radial functions as states span all tables.
        (LSPI, {"centers": 5, "regularization": 1e-9, "epsilon": 0.0}),
    ],
)
def test_optimal_values_on_a_finite_task(seed, baseline, constants):
    env = TableEnv(with_an_end(random_mdp(seed)), as_box=True)
    agent = baseline(env, seed=0, gamma=GAMMA, **constants)
    show_every_pair(agent, env)
    np.testing.assert_allclose(
        agent.action_values(env.points), env.mdp.optimal_action_values(GAMMA), atol=2e-3
    )


@pytest.mark.parametrize("trace_decay", [0.0, 0.9])
def test_sarsa_learns_the_values_of_the_only_policy(trace_decay):
    env = TableEnv(with_an_end(random_mdp(0, n_actions=1)), as_box=True)
    constants = {"step_size": 0.2, "n_tilings": 1, "tiles": 5, "epsilon": 0.0, "gamma": GAMMA}
    agent = SarsaLambda(env, seed=0, trace_decay=trace_decay, **constants).learn(1500)
    np.testing.assert_allclose(
        agent.action_values(env.points), env.mdp.optimal_action_values(GAMMA), atol=1e-3
    )


def test_too_many_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"more than 1,000,000: choose fewer tiles"):
        TileCoder(n_dimensions=8, n_tilings=8, tiles=8)
