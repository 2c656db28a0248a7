"""Plans in a box, judged by simulated episodes before they act or are shown."""

import gymnasium
import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR


@pytest.fixture(scope="module")
def balancing():
    return OptimisticPOWR("CartPole-v1", seed=1103).learn(800)


def test_plans_are_judged_where_the_map_predicts_the_newest_steps(balancing):
    judged = [choice for choice in balancing._planner.choices if choice[0]]
    assert len(judged) > len(balancing._planner.choices) / 2


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
