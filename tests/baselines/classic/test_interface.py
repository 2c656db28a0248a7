"""What holds for every peer: budgets, seeds, policies, terminations, and errors that help."""

import doctest

import gymnasium
import numpy as np
import pytest

from baselines import classic
from baselines.classic import tile_coder
from baselines.classic.cme_value_iteration import CMEValueIteration
from baselines.classic.dyna_q import DynaQ
from baselines.classic.lspi import LSPI
from baselines.classic.optimistic_q import OptimisticQ
from baselines.classic.psrl import PSRL
from baselines.classic.rmax import RMax
from baselines.classic.sarsa_lambda import SarsaLambda
from tests.baselines.classic.table_env import TableEnv, loop, random_mdp
from tests.powr.environments import Corridor

Q_LEARNING = {"initial_value": 0.0, "learning_rate": 0.5, "gamma": 0.5, "epsilon": 0.1}
FINITE = {
    RMax: {"v_max": 3.0, "known_after": 1, "gamma": 0.5},
    DynaQ: {"planning_steps": 5, **Q_LEARNING},
    OptimisticQ: Q_LEARNING,
    PSRL: {
        "prior_visits": 1e-3,
        "reward_mean": 0.0,
        "reward_std": 1.0,
        "reward_noise": 0.01,
        "gamma": 0.5,
    },
}
BOXES = {
    SarsaLambda: {
        "step_size": 0.5,
        "trace_decay": 0.9,
        "tiles": 4,
        "epsilon": 0.1,
        "gamma": 0.5,
    },
    LSPI: {"centers": 4, "regularization": 1e-3, "epsilon": 0.1, "gamma": 0.5},
    CMEValueIteration: {"bandwidth": 0.3, "resolution": 0.01, "gamma": 0.5},
}
ALL = {**FINITE, **BOXES}

peers = pytest.mark.parametrize("peer", ALL)


def build(peer, env=None, seed=0, **changed):
    if env is None:
        env = TableEnv(random_mdp(0, branches=2), as_box=peer in BOXES)
    return peer(env, seed=seed, **{**ALL[peer], **changed})


def history(peer, seed):
    """Everything a training shows: the actions it predicts on the way."""
    seen = []
    points = np.linspace(0, 1, 5)[:, None] if peer in BOXES else np.arange(5)
    build(peer, seed=seed).learn(60, lambda agent: seen.append(agent.action_values(points)))
    return np.array(seen)


@peers
def test_takes_exactly_its_budget_or_stops_when_the_callback_says_false(peer):
    seen = []
    agent = build(peer).learn(47, lambda agent: seen.append(agent.num_timesteps))
    assert seen == list(range(1, 48))
    assert agent.learn(30, lambda agent: agent.num_timesteps < 50).num_timesteps == 50


@peers
def test_equal_seeds_agree_and_others_do_not(peer):
    np.testing.assert_array_equal(history(peer, seed=0), history(peer, seed=0))
    assert not np.array_equal(history(peer, seed=0), history(peer, seed=1))


@peers
def test_predicts_the_best_action_of_one_or_many(peer):
    agent = build(peer).learn(60)
    points = np.linspace(0, 1, 5)[:, None] if peer in BOXES else np.arange(5)
    actions, state = agent.predict(points)
    np.testing.assert_array_equal(actions, agent.action_values(points).argmax(axis=1))
    assert state is None
    one, _ = agent.predict(points[3])
    assert one.shape == ()
    assert one == actions[3]


@peers
def test_acts_as_its_probabilities_say(peer):
    agent = build(peer).learn(60)
    point = np.array([0.5]) if peer in BOXES else 2
    probabilities = agent.action_probabilities(point)[0]
    drawn, _ = agent.predict(np.repeat([point], 4000, axis=0), deterministic=False)
    acted = [agent._act(agent._encode(point)) for _ in range(4000)]
    assert probabilities.sum() == pytest.approx(1.0)
    for actions in (drawn, acted):
        shares = np.bincount(actions, minlength=2) / 4000
        np.testing.assert_allclose(shares, probabilities, atol=0.03)


@peers
@pytest.mark.parametrize(("terminates", "value"), [(True, 1.0), (False, 2.0)])
def test_nothing_follows_termination_and_something_truncation(peer, terminates, value):
    env = loop(terminates, as_box=peer in BOXES)
    agent = build(peer, env, initial_value=3.0) if peer is DynaQ else build(peer, env)
    agent.learn(100)
    assert agent.action_values(env.reset()[0])[0, 0] == pytest.approx(value, rel=0.03)


@peers
def test_actions_need_not_begin_at_0(peer):
    agent = build(peer, Corridor(start=3, continuous=peer in BOXES)).learn(30)
    action, _ = agent.predict(agent.env.reset(seed=0)[0])
    assert action in (3, 4)


@peers
def test_what_does_not_suit_a_peer_is_refused_with_the_remedy(peer):
    with pytest.raises(TypeError, match="missing"):
        peer(TableEnv(random_mdp(0), as_box=peer in BOXES), seed=0)
    with pytest.raises(ValueError, match=r"gamma is 1\.5: give a"):
        build(peer, gamma=1.5)
    with pytest.raises(ValueError, match=r"needs finitely many actions.*choose"):
        build(peer, gymnasium.make("Pendulum-v1"))
    needs = "a one-dimensional Box" if peer in BOXES else "finitely many observations"
    with pytest.raises(ValueError, match=rf"needs .*{needs}.*choose"):
        build(peer, gymnasium.make("Taxi-v3" if peer in BOXES else "MountainCar-v0"))


@pytest.mark.parametrize("peer", [LSPI, CMEValueIteration])
def test_bounds_stand_in_for_those_that_a_box_lacks(peer):
    bounds = [[-2.4, 2.4], [-3.0, 3.0], [-0.2, 0.2], [-3.0, 3.0]]
    with pytest.raises(ValueError, match=r"dimension 1 of .* has no bounds: give"):
        build(peer, gymnasium.make("CartPole-v1"))
    agent = build(peer, gymnasium.make("CartPole-v1"), bounds=bounds)
    encoded = agent._encode([[0.0, 3.0, -0.1, 99.0]])
    np.testing.assert_allclose(encoded, [[0.5, 1.0, 0.25, 1.0]])
    assert agent.learn(60).num_timesteps == 60
    with pytest.raises(ValueError, match=r"bounds has the shape \(3, 2\).*: give 4 pairs"):
        build(peer, gymnasium.make("CartPole-v1"), bounds=bounds[:3])


@pytest.mark.parametrize("module", [classic, tile_coder])
def test_examples_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
