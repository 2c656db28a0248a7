"""The floor: the fewest timesteps after which a learner can be sure of its return.

**What is bounded.** A learner without prior knowledge knows what it has seen a pair (state, action)
do, and nothing about a pair it never tried: that one may lead anywhere and pay anything. It is sure
that its policy meets a threshold once it has tried every pair on the policy's way from every
possible start to the end of the episode, and the returns it so knows have a mean at or above the
threshold. (A policy here takes one action per state.) These are the pairs that the threshold
depends on. The floor is the fewest timesteps in which any learner can have tried them: with the
best policy for it, the best order of the pairs, and the best luck in the starts that are drawn.

**What is not bounded.** A learner may guess right in states it has never seen, and arrive earlier
by luck. A learner that knows more than it tried (that a taxi moves alike wherever the passenger
waits) is sure earlier. Neither is covered.

**A finite deterministic task** is a graph, and the pairs must lie on a tour of it. The tour has
episodes: each begins at a start and ends by termination or at the time limit; the last may stop
anywhere. The shortest tour is hard to find, so it is bounded from both sides.

- `lower_bound` solves a linear programme that every such tour satisfies, so that its optimum is at
  most the shortest tour's length. It can be weak: it allows pairs in fractions and tours in pieces.
- `upper_bound` is the length of a tour that was found. It leads to an optimal policy, so that
  below the optimum there may be a shorter one.

**MountainCar** is no finite graph. Its floor is for a learner that knows how the car moves, but not
where the episode ends: it cannot be sure of any return before it has been at the goal once. That
takes at least the steps of the fastest climb from the best start (`fastest_climb`). The bound is
weak: it counts no step for learning anything else.

Other environments have no floor, and `floor` says why.
"""

from typing import NamedTuple

import gymnasium
from gymnasium.envs.classic_control import MountainCarEnv

from powr.tabular import TabularMDP
from suite.floor.car import fastest_climb
from suite.floor.finite import Task, lower_bound, upper_bound


class Floor(NamedTuple):
    """Bounds on the fewest timesteps; both are None where there is no floor."""

    lower: int | None
    upper: int | None
    reason: str


def floor(env: gymnasium.Env, threshold: float) -> Floor:
    """The floor of an environment, or the reason why there is none."""
    if isinstance(env.unwrapped, MountainCarEnv):
        lower, upper = fastest_climb(env.unwrapped)
        return Floor(lower, upper, "the goal must have been reached once")
    if not hasattr(env.unwrapped, "P"):
        return Floor(None, None, "it has no table of transitions")
    mdp = TabularMDP.from_env(env)
    try:
        task = Task.of(mdp)
        lower, upper = lower_bound(task, threshold), upper_bound(task, mdp, threshold)
    except ValueError as error:
        return Floor(None, None, str(error))
    return Floor(lower, upper, "all pairs on the policy's way from all starts must be tried")
