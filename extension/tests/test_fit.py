"""OptimisticPOWR on logged data: optimal where they cover the table, cautious where they do not."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from optimistic_powr import OptimisticPOWR

from powr.episodes import rollout
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor
from tests.powr.test_fit import MOVES, PLANE, wandering

SPACES = {"observation_space": PLANE, "action_space": Discrete(4)}


def covered(env):
    """Each outcome of each action in each state, as often as it happens in three visits."""
    rows = [
        (state, action, reward, next_state, terminated)
        for state, actions in env.unwrapped.P.items()
        for action, outcomes in actions.items()
        for probability, next_state, reward, terminated in outcomes
        for _ in range(round(3 * probability))
    ]
    order = np.random.default_rng(1000).permutation(len(rows))
    return [np.array(column)[order] for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v3"])
def test_data_that_cover_the_table_give_an_optimal_policy(name, tmp_path):
    env = gymnasium.make(name)
    mdp, states = TabularMDP.from_env(env), np.arange(env.observation_space.n)
    agent = OptimisticPOWR(
        observation_space=env.observation_space, action_space=env.action_space
    ).fit(*covered(env))
    agent.save(tmp_path / "agent.npz")
    for each in (agent, OptimisticPOWR.load(tmp_path / "agent.npz", env)):
        actions, _ = each.predict(states, deterministic=True)
        # By a long horizon: the policy knows of no time limit.
        achieved = mdp.expected_return(np.eye(mdp.n_actions)[actions], 1000)
        assert achieved == pytest.approx(mdp.optimal_return(1000), rel=0.01)
        np.testing.assert_array_equal(each.action_values(states), agent.action_values(states))


def test_actions_that_were_never_logged_are_avoided_in_a_table():
    """Doing nothing is never worse than a step aside, but was not logged in half of the states."""
    env = gymnasium.make("Taxi-v3")
    columns = covered(env)
    rng = np.random.default_rng(1000)
    is_logged = rng.random((500, 6)) < 0.5
    kept = is_logged[columns[0], columns[1]]
    agent = OptimisticPOWR(env).fit(*(column[kept] for column in columns))
    states = np.flatnonzero(is_logged.any(axis=1))
    actions, _ = agent.predict(states, deterministic=True)
    assert is_logged[states, actions].all()


def test_a_box_gives_a_better_policy_than_the_one_that_logged():
    """Half of the actions push the car along, the others are random."""
    env, rng = gymnasium.make("MountainCar-v0"), np.random.default_rng(1000)
    rows, n_episodes = [], 8
    for seed in range(n_episodes):
        (state, _), over = env.reset(seed=seed), False
        while not over:
            action = 2 * int(state[1] > 0) if rng.random() < 0.5 else rng.integers(3)
            next_state, reward, terminated, truncated, _ = env.step(action)
            rows.append((state, action, reward, next_state, terminated))
            state, over = next_state, terminated or truncated
    agent = OptimisticPOWR(
        observation_space=env.observation_space, action_space=env.action_space
    ).fit(*(np.array(column) for column in zip(*rows, strict=True)))
    returns = [list(rollout(agent, env, seed=seed))[-1].return_so_far for seed in range(10)]
    assert np.mean(returns) > -len(rows) / n_episodes + 20


@pytest.mark.parametrize("left_out", ["everywhere", "on the right"])
def test_actions_that_were_never_logged_are_avoided_in_a_box(left_out, tmp_path):
    """The way to the origin from the right is to the left, which was not logged there."""
    columns = wandering(800)
    gone = (columns[1] == 1) & ((left_out == "everywhere") | (columns[0][:, 0] > 0.1))
    agent = OptimisticPOWR(**SPACES).fit(*(column[~gone] for column in columns))
    agent.save(tmp_path / "agent.npz")
    states = np.random.default_rng(1001).uniform((0.6, -0.2), (0.9, 0.2), (50, 2))
    for each in (agent, OptimisticPOWR.load(tmp_path / "agent.npz")):
        actions, _ = each.predict(states, deterministic=True)
        assert not (actions == 1).any()
    everywhere, _ = OptimisticPOWR(**SPACES).fit(*columns).predict(states, deterministic=True)
    assert (everywhere == 1).mean() > 0.8


def test_a_box_is_learned_from_logged_data_in_any_order():
    columns = wandering(600)
    order = np.random.default_rng(1000).permutation(600)
    agent = OptimisticPOWR(**SPACES).fit(*(column[order] for column in columns))
    states = np.random.default_rng(1002).uniform(-0.8, 0.8, (100, 2))
    for _ in range(14):
        actions, _ = agent.predict(states, deterministic=True)
        far = np.linalg.norm(states, axis=1) >= 0.15
        states = np.clip(states + far[:, None] * MOVES[actions], -1, 1)
    assert (np.linalg.norm(states, axis=1) < 0.15).mean() > 0.85


@pytest.mark.parametrize("continuous", [False, True])
def test_learning_goes_on_after_logged_data(continuous, tmp_path):
    logged = OptimisticPOWR(Corridor(continuous=continuous), seed=1000).learn(100).data.columns()
    agent = OptimisticPOWR(Corridor(continuous=continuous), seed=1).learn(30).fit(*logged)
    assert (agent.num_timesteps, agent.n_plans_, agent.episode_returns) == (100, 1, [])
    agent.save(tmp_path / "agent.npz")
    twin = OptimisticPOWR.load(tmp_path / "agent.npz", Corridor(continuous=continuous))
    places = agent.data.columns()[3]
    for each in (agent, twin):
        assert len(each.learn(20).episode_returns) == 2
    np.testing.assert_array_equal(agent.action_values(places), twin.action_values(places))


def test_logged_data_that_do_not_fit_leave_the_agent_as_it_was():
    agent = OptimisticPOWR(Corridor(), seed=1000).learn(50)
    before, columns = agent.action_values(range(10)), agent.data.columns()
    with pytest.raises(ValueError, match="actions must lie between"):
        agent.fit(columns[0], columns[1] + 7, *columns[2:])
    np.testing.assert_array_equal(agent.action_values(range(10)), before)


def test_one_transition_is_enough_to_fit():
    for space, state in ((Discrete(3), 1), (Box(-1.0, 1.0, (2,)), np.zeros(2))):
        agent = OptimisticPOWR(observation_space=space, action_space=Discrete(2))
        agent.fit([state], [1], [0.5], [state], [False])
        assert agent.predict(state, deterministic=True)[0] == 1


@pytest.mark.parametrize("cautious", [False, True])
def test_a_policy_of_unvisited_actions_in_a_box_is_told(cautious):
    columns = wandering(400)
    kept = (columns[1] != 1) | (columns[0][:, 0] < -0.6)
    agent = OptimisticPOWR(**SPACES, cautious=cautious)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent.fit(*(column[kept] for column in columns))
    assert ("unvisited_actions" in agent.settings_) == (not cautious)
    assert any("never taken there" in str(each.message) for each in caught) == (not cautious)
