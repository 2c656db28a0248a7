"""Plans in a box, judged by simulated episodes before they act or are shown."""

import gymnasium
import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR


def mean_return(agent, env, episodes):
    """Of the policy that is shown, all episodes in step."""
    envs = [gymnasium.make(env) for _ in range(episodes)]
    observations = [each.reset(seed=seed)[0] for seed, each in enumerate(envs)]
    playing, total = [*range(episodes)], 0.0
    while playing:
        batch = np.array([observations[number] for number in playing])
        for number, action in zip([*playing], agent.predict(batch, deterministic=True)[0]):
            observations[number], reward, terminated, truncated, _ = envs[number].step(action)
            total += reward
            if terminated or truncated:
                playing.remove(number)
    return total / episodes


@pytest.fixture(scope="module")
def balancing():
    return OptimisticPOWR("CartPole-v1", seed=1103).learn(3000)


def test_the_plan_shown_balances_the_pole_as_long_as_it_was_simulated_to(balancing):
    (size, rounds, simulated), planner = balancing._planner.choices[-1], balancing._planner
    assert (size, rounds) == planner._judged.key
    reached = mean_return(balancing, "CartPole-v1", 10)
    assert reached > 430
    assert simulated == pytest.approx(reached, rel=0.15)


def test_a_plan_made_again_from_the_data_is_the_one_that_was_chosen(balancing):
    states = balancing.data.columns()[0][-50:]
    before = balancing.action_values(states), balancing._behaviour()(states)
    balancing._current = None  # as after an interrupt
    np.testing.assert_array_equal(balancing.action_values(states), before[0])
    np.testing.assert_array_equal(balancing._behaviour()(states), before[1])


def test_where_steps_are_random_no_plan_is_judged_by_simulation():
    env = gymnasium.make("tasks:NoisyCartPole-v0", noise=0.05)
    agent = OptimisticPOWR(env, seed=1100).learn(400)
    assert set(agent._planner.choices) == {(0, 0, 0.0)}


def test_without_keep_best_the_newest_plan_is_shown():
    agent = OptimisticPOWR("CartPole-v1", seed=1100, keep_best=False).learn(400)
    assert set(agent._planner.choices) == {(0, 0, 0.0)}
