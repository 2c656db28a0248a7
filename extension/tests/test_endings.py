"""Episodes that an action ends, and those that a state ends, in a box."""

import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR

from extension.tests.decisions import SELL, Choice, Sale, mean_return

CONTEXTS = np.random.default_rng(1000).uniform(-1.0, 1.0, (1000, 2))


def ended_by_action(columns):
    # At call time, so that the other tests of this file run without the module.
    from optimistic_powr.displacement import ranges
    from optimistic_powr.endings import ended_by_action as judged

    states, actions, rewards, next_states, terminated = columns
    scale = ranges(np.vstack([states, next_states]))
    return judged((states / scale, actions, rewards, next_states / scale, terminated))


@pytest.mark.parametrize("end", ["same", "zeros", "another"])
def test_a_choice_that_ends_the_episode_is_learned(end):
    agent = OptimisticPOWR(Choice(end), seed=1000).learn(600)
    actions, _ = agent.predict(CONTEXTS, deterministic=True)
    assert (actions == Choice.right(CONTEXTS)).mean() > 0.95
    assert agent.action_values(CONTEXTS).max() <= 1.0 + 1e-6  # what rewards allow


@pytest.mark.parametrize("shows_time", [True, False])
def test_a_price_is_sold_at_near_the_best_threshold(shows_time):
    env = Sale(shows_time)
    agent = OptimisticPOWR(Sale(shows_time), seed=1000).learn(1000)
    best = mean_return(env, lambda observation: int(observation[0] > 0.5), 300)
    reached = mean_return(
        env, lambda observation: agent.predict(observation, deterministic=True)[0], 300
    )
    assert reached > 0.85 * best  # random play earns nothing


def collected(env, policy, n):
    rows, (state, _) = [], env.reset(seed=1000)
    for _ in range(n):
        action = policy(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        rows.append((state, action, reward, next_state, terminated))
        state = env.reset()[0] if terminated or truncated else next_state
    return tuple(map(np.array, zip(*rows, strict=True)))


def test_a_sale_is_the_action_of_selling():
    rng = np.random.default_rng(1000)
    columns = collected(Sale(), lambda _: int(rng.random() < 0.2), 300)
    np.testing.assert_array_equal(ended_by_action(columns), columns[1] == SELL)


def test_sales_all_at_one_time_are_the_action_of_selling():
    """The observed time tells their next states from those on the way."""
    actions = iter([0] * 100 + [SELL] * 200)
    columns = collected(Sale(), lambda _: next(actions), 300)
    np.testing.assert_array_equal(ended_by_action(columns), columns[1] == SELL)


@pytest.mark.parametrize("shows_time", [True, False])
def test_a_limit_ends_the_episode_where_an_observation_shows_it(shows_time):
    from optimistic_powr.endings import ended_by_clock

    states, _, _, next_states, _ = collected(Sale(shows_time), lambda _: 0, 200)
    truncated = np.arange(200) % 40 == 39
    np.testing.assert_array_equal(
        ended_by_clock(states, next_states, truncated), truncated & shows_time
    )


def test_where_a_state_ends_the_episode_no_action_does():
    """A point moves at random in the square until it leaves the disc around its centre."""
    rng = np.random.default_rng(1000)
    states = rng.uniform(-0.7, 0.7, (400, 2))
    moves = 0.2 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    actions = rng.integers(4, size=400)
    next_states = states + moves[actions]
    is_inside = np.hypot(*states.T) <= 0.7
    terminated = np.hypot(*next_states.T) > 0.7
    columns = (states, actions, -np.ones(400), next_states, terminated)
    columns = tuple(column[is_inside] for column in columns)
    assert columns[4].sum() > 20
    assert not ended_by_action(columns).any()
