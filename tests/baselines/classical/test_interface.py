"""What holds for every classical baseline: budgets, seeds, policies, terminations, errors."""

import gymnasium
import numpy as np
import pytest

from baselines.classical.agent import RandomPlay
from baselines.classical.cme_value_iteration import CMEValueIteration
from baselines.classical.lspi import LSPI
from baselines.classical.psrl import PSRL
from baselines.classical.q_learning import DynaQ, OptimisticQ
from baselines.classical.rmax import RMax
from baselines.classical.sarsa_lambda import SarsaLambda
from tests.baselines.classical.table_env import TableEnv, loop, random_mdp
from tests.powr.environments import Corridor

Q_LEARNING = {"initial_value": 0.0, "learning_rate": 0.5, "epsilon": 0.1}
REWARDS = {"reward_mean": 0.0, "reward_std": 1.0, "reward_noise": 0.01}
FINITE = {
    RMax: {"v_max": 3.0, "known_after": 1},
    DynaQ: {"planning_steps": 5, **Q_LEARNING},
    OptimisticQ: Q_LEARNING,
    PSRL: {"prior_visits": 1e-3, **REWARDS},
}
BOXES = {
    SarsaLambda: {"step_size": 0.5, "trace_decay": 0.9, "tiles": 4, "epsilon": 0.1},
    LSPI: {"centers": 4, "regularization": 1e-3, "epsilon": 0.1},
    CMEValueIteration: {"bandwidth": 0.3, "resolution": 0.01},
}
ALL = {**FINITE, **BOXES}

every = pytest.mark.parametrize("baseline", ALL)


def build(baseline, env=None, seed=0, **changed):
    if env is None:
        env = TableEnv(random_mdp(0, branches=2), as_box=baseline in BOXES)
    return baseline(env, seed=seed, **{"gamma": 0.5, **ALL[baseline], **changed})


def history(baseline, seed):
    """Everything a training shows: the actions it predicts on the way."""
    seen = []
    points = np.linspace(0, 1, 5)[:, None] if baseline in BOXES else np.arange(5)
    build(baseline, seed=seed).learn(60, lambda agent: seen.append(agent.action_values(points)))
    return np.array(seen)


@every
def test_takes_exactly_its_budget_or_stops_when_the_callback_says_false(baseline):
    seen = []
    agent = build(baseline).learn(47, lambda agent: seen.append(agent.num_timesteps))
    assert seen == list(range(1, 48))
    assert agent.learn(30, lambda agent: agent.num_timesteps < 50).num_timesteps == 50


@every
def test_equal_seeds_agree_and_others_do_not(baseline):
    np.testing.assert_array_equal(history(baseline, seed=0), history(baseline, seed=0))
    assert not np.array_equal(history(baseline, seed=0), history(baseline, seed=1))


@every
def test_predicts_the_best_action_of_one_or_many(baseline):
    agent = build(baseline).learn(60)
    points = np.linspace(0, 1, 5)[:, None] if baseline in BOXES else np.arange(5)
    actions, state = agent.predict(points)
    np.testing.assert_array_equal(actions, agent.action_values(points).argmax(axis=1))
    assert state is None
    one, _ = agent.predict(points[3])
    assert one.shape == ()
    assert one == actions[3]


@every
def test_acts_as_its_probabilities_say(baseline):
    agent = build(baseline).learn(60)
    point = np.array([0.5]) if baseline in BOXES else 2
    probabilities = agent.action_probabilities(point)[0]
    drawn, _ = agent.predict(np.repeat([point], 4000, axis=0), deterministic=False)
    acted = [agent._act(agent._encode(point)) for _ in range(4000)]
    assert probabilities.sum() == pytest.approx(1.0)
    for actions in (drawn, acted):
        shares = np.bincount(actions, minlength=2) / 4000
        np.testing.assert_allclose(shares, probabilities, atol=0.03)


@every
@pytest.mark.parametrize(("terminates", "value"), [(True, 1.0), (False, 2.0)])
def test_nothing_follows_termination_and_something_truncation(baseline, terminates, value):
    env = loop(terminates, as_box=baseline in BOXES)
    agent = build(baseline, env, initial_value=3.0) if baseline is DynaQ else build(baseline, env)
    agent.learn(100)
    assert agent.action_values(env.reset()[0])[0, 0] == pytest.approx(value, rel=0.03)


@every
def test_actions_need_not_begin_at_0(baseline):
    agent = build(baseline, Corridor(start=3, continuous=baseline in BOXES)).learn(30)
    action, _ = agent.predict(agent.env.reset(seed=0)[0])
    assert action in (3, 4)


@every
def test_what_does_not_suit_a_baseline_is_refused_with_the_remedy(baseline):
    with pytest.raises(TypeError, match="missing"):
        baseline(TableEnv(random_mdp(0), as_box=baseline in BOXES), seed=0)
    with pytest.raises(ValueError, match=r"gamma is 1\.5: give a"):
        build(baseline, gamma=1.5)
    with pytest.raises(ValueError, match=r"needs finitely many actions.*choose"):
        build(baseline, gymnasium.make("Pendulum-v1"))
    needs = "a one-dimensional Box" if baseline in BOXES else "finitely many observations"
    with pytest.raises(ValueError, match=rf"needs .*{needs}.*choose"):
        build(baseline, gymnasium.make("Taxi-v3" if baseline in BOXES else "MountainCar-v0"))


@pytest.mark.parametrize("baseline", [LSPI, CMEValueIteration])
def test_bounds_stand_in_for_those_that_a_box_lacks(baseline):
    bounds = [[-2.4, 2.4], [-3.0, 3.0], [-0.2, 0.2], [-3.0, 3.0]]
    with pytest.raises(ValueError, match=r"dimension 1 of .* has no bounds: give"):
        build(baseline, gymnasium.make("CartPole-v1"))
    agent = build(baseline, gymnasium.make("CartPole-v1"), bounds=bounds)
    encoded = agent._encode([[0.0, 3.0, -0.1, 99.0]])
    np.testing.assert_allclose(encoded, [[0.5, 1.0, 0.25, 1.0]])
    assert agent.learn(60).num_timesteps == 60
    with pytest.raises(ValueError, match=r"bounds has the shape \(3, 2\).*: give 4 pairs"):
        build(baseline, gymnasium.make("CartPole-v1"), bounds=bounds[:3])


@pytest.mark.parametrize("name", ["FrozenLake-v1", "MountainCar-v0", "Blackjack-v1"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_random_play_is_uniform_on_every_environment(name, deterministic):
    env = gymnasium.make(name)
    agent = RandomPlay(env, seed=0).learn(50)
    observations = np.array([env.reset(seed=i)[0] for i in range(3000)])
    actions, _ = agent.predict(observations, deterministic=deterministic)
    shares = np.bincount(actions, minlength=env.action_space.n) / len(actions)
    np.testing.assert_allclose(shares, 1 / env.action_space.n, atol=0.03)
    np.testing.assert_allclose(agent.action_probabilities(observations), 1 / env.action_space.n)
