"""The peers for boxes against exact dynamic programming."""

import numpy as np
import pytest

from baselines.classic.agent import Step
from baselines.classic.cme_value_iteration import CMEValueIteration
from baselines.classic.lspi import LSPI
from baselines.classic.sarsa_lambda import SarsaLambda
from baselines.classic.tile_coder import TileCoder
from powr.tabular import TabularMDP
from tests.baselines.classic.table_env import TableEnv, random_mdp

GAMMA = 0.9


def show_every_pair(agent, env):
    """Let the agent see each pair of a deterministic task once, then plan."""
    n_states, n_actions = env.mdp.rewards.shape
    for s in range(n_states):
        for a in range(n_actions):
            goes_to = env.mdp.transitions[[s * n_actions + a]].toarray()[0]
            agent._update(
                Step(
                    state=env.points[s],
                    action=a,
                    reward=env.mdp.rewards[s, a],
                    next_state=env.points[goes_to.argmax()],
                    terminated=not goes_to.any(),
                    truncated=(s, a) == (n_states - 1, n_actions - 1),
                )
            )


def with_an_end(mdp):
    """The same task, but the last action of the last state terminates."""
    transitions = mdp.transitions.toarray()
    transitions[-1] = 0.0
    return TabularMDP(transitions, mdp.rewards, mdp.initial_distribution, mdp.horizon)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("peer", "constants"),
    [
        # A kernel so narrow that states know nothing of each other.
        (CMEValueIteration, {"bandwidth": 1e-3, "resolution": 0.0, "regularization": 1e-9}),
        # As many radial functions as states span all tables.
        (LSPI, {"centers": 5, "regularization": 1e-9, "epsilon": 0.0}),
    ],
)
def test_optimal_values_on_a_finite_task(seed, peer, constants):
    env = TableEnv(with_an_end(random_mdp(seed)), as_box=True)
    agent = peer(env, seed=0, gamma=GAMMA, **constants)
    show_every_pair(agent, env)
    np.testing.assert_allclose(
        agent.action_values(env.points), env.mdp.optimal_action_values(GAMMA), atol=2e-3
    )


@pytest.mark.parametrize("trace_decay", [0.0, 0.9])
def test_sarsa_learns_the_values_of_the_only_policy(trace_decay):
    env = TableEnv(with_an_end(random_mdp(0, n_actions=1)), as_box=True)
    agent = SarsaLambda(
        env,
        seed=0,
        step_size=0.2,
        trace_decay=trace_decay,
        n_tilings=1,
        tiles=5,
        epsilon=0.0,
        gamma=GAMMA,
    ).learn(1500)
    np.testing.assert_allclose(
        agent.action_values(env.points), env.mdp.optimal_action_values(GAMMA), atol=1e-3
    )


def test_too_many_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"more than 1,000,000: choose fewer tiles"):
        TileCoder(n_dimensions=8, n_tilings=8, tiles=8)
