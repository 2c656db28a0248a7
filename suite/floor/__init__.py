"""The floor: the fewest timesteps after which a learner can be sure of its return.

A learner without prior knowledge is sure that its policy meets a threshold once it has tried every
pair (state, action) on the policy's way from every start to the end of the episode, and the mean of
the returns it so knows is at or above the threshold. The floor is the fewest timesteps in which any
learner can have tried these pairs, with the best policy, order and luck in the starts.
docs/peers.md says what it does not bound.

- In a finite deterministic task the pairs must lie on a tour of its graph. `lower_bound` solves a
  linear programme that every such tour satisfies. `upper_bound` is the length of a tour that leads
  to an optimal policy.
- On MountainCar the learner is taken to know how the car moves, but not where the episode ends: it
  must have been at the goal once. `fastest_climb` bounds the steps from the best start.

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
