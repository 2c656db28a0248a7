"""Operations in a box: hand-made rules as reference returns."""

import gymnasium
import numpy as np
import pytest
from tasks.operations_boxes import EXERCISE, WAIT

from extension.readme import BY_HAND
from extension.tests.decisions import mean_return

LEFT, ROLL, RIGHT = range(3)


def exercise_far_below_the_strike_or_late(env, observation):
    price, left = observation
    is_last = left < 1.5 / env.maturity
    return EXERCISE if price < 0.65 or (is_last and price < 1.0) else WAIT


def offer_the_closest(env, observation):
    return env.best(observation)


def heat_towards_20(env, observation):
    room, outside = observation
    unheated = room + 0.1 * (outside - room)
    return int(np.abs(unheated + env.HEAT - 20.0).argmin())


def brake_in_time(env, observation):
    """Faster as long as the cart could still stop at the platform, by one push per step."""
    position, velocity = observation
    faster = velocity + env.PUSH
    braking = faster * (faster / env.PUSH + 1) / 2
    if position + braking <= env.platform:
        return RIGHT
    return LEFT if velocity > 0 else ROLL


# The rule, the mean return of random actions, and at least four standard errors of the means over
# 2,000 episodes.
RULES = {
    "PutOption": (exercise_far_below_the_strike_or_late, 0.039, 0.02),
    "Offers": (offer_the_closest, 0.3, 0.03),
    "Thermostat": (heat_towards_20, -31.0, 0.5),
    "StoppingCart": (brake_in_time, -124.0, 2.0),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_made_by_hand_has_the_return_that_the_readme_gives(name):
    (rule, at_random, tolerance), reference = RULES[name], BY_HAND[name]
    env, rng = gymnasium.make(f"tasks:{name}-v0"), np.random.default_rng(0)
    returns = mean_return(env, lambda observation: rule(env.unwrapped, observation), 2000)
    assert returns == pytest.approx(reference, abs=tolerance)
    returns = mean_return(env, lambda _: rng.integers(env.action_space.n), 500)
    assert returns == pytest.approx(at_random, abs=4 * tolerance)
    assert reference - at_random > 5 * tolerance
