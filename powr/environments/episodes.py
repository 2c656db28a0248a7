"""Facts about an environment, and one episode of an agent in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium
from gymnasium.wrappers import TimeLimit

if TYPE_CHECKING:
    from powr.environments.agent import Agent


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
    limit = time_limit(env, max_steps)
    observation, _ = env.reset(seed=seed)
    timestep, return_so_far, done = 0, 0.0, False
    while not done:
        action = agent.predict(observation, deterministic=deterministic)[0]
        yield Moment(timestep, observation, int(action), return_so_far)
        observation, reward, terminated, truncated, _ = env.step(action)
        timestep, return_so_far = timestep + 1, return_so_far + float(reward)
        done = terminated or truncated or timestep == limit
    yield Moment(timestep, observation, None, return_so_far)


def time_limit(env: gymnasium.Env, max_steps: int | None = None) -> int:
    """The number of steps after which an episode is sure to end."""
    limits = [limit for limit in (max_steps, limit_of(env)) if limit]
    if not limits:
        raise ValueError(
            f"{env_name(env)} has no time limit, so an episode may never end: give max_steps"
        )
    return min(limits)


def limit_of(env: gymnasium.Env) -> int | None:
    """The time limit of an environment, as registered or else as wrapped."""
    if env.spec and env.spec.max_episode_steps:
        return env.spec.max_episode_steps
    wrappers = [layer for layer in layers_of(env) if isinstance(layer, TimeLimit)]
    return min((wrapper._max_episode_steps for wrapper in wrappers), default=None)


def layers_of(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """The environment, and what it wraps."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def env_name(env: gymnasium.Env) -> str:
    return env.spec.id if env.spec else str(env)
