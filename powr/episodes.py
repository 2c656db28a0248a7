"""One episode of an agent, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium

from powr.environment import env_name, limit_of

if TYPE_CHECKING:
    from powr.agent import Agent


class Moment(NamedTuple):
    """Where an episode stands before its next action; the last moment has none."""

    timestep: int
    observation: Any
    action: int | None
    return_so_far: float


def rollout(
    agent: Agent,
    env: gymnasium.Env,
    *,
    seed: int,
    deterministic: bool = True,
    max_steps: int | None = None,
) -> Iterator[Moment]:
    """Play one episode, of at most `max_steps` steps where the environment sets no limit."""
    limits = [limit for limit in (max_steps, limit_of(env)) if limit]
    if not limits:
        raise ValueError(
            f"{env_name(env)} has no time limit, so an episode may never end: give max_steps"
        )
    observation, _ = env.reset(seed=seed)
    timestep, return_so_far, done = 0, 0.0, False
    while not done:
        action = agent.predict(observation, deterministic=deterministic)[0]
        yield Moment(timestep, observation, int(action), return_so_far)
        observation, reward, terminated, truncated, _ = env.step(action)
        timestep, return_so_far = timestep + 1, return_so_far + float(reward)
        done = terminated or truncated or timestep == min(limits)
    yield Moment(timestep, observation, None, return_so_far)
