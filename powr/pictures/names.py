"""What actions, coordinates and panels are called, for environments of gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from numpy.typing import NDArray

from powr.agent import Agent
from powr.environment import actions_of, layers_of

TITLES = {
    "value": "Value: expected discounted return",
    "policy": "Policy: most probable action",
    "visits": "Visits: steps taken from a state",
}
COLOURS = {"value": "viridis", "visits": "Blues"}

# By the class of the environment.
ACTION_NAMES = {
    "CartPoleEnv": ("left", "right"),
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "MountainCarEnv": ("left", "none", "right"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}
COORDINATE_NAMES = {
    "CartPoleEnv": ("cart position", "cart velocity", "pole angle", "pole velocity"),
    "MountainCarEnv": ("position", "velocity"),
}


def action_names(env: gymnasium.Env) -> Sequence[str]:
    """What the environment's documentation calls its actions where known, else their numbers."""
    start, n_actions = int(actions_of(env).start), int(actions_of(env).n)
    numbers = [str(start + i) for i in range(n_actions)]
    kind = kind_of(env, "action_space", gymnasium.ActionWrapper)
    return ACTION_NAMES.get(kind, numbers)


def kind_of(env: gymnasium.Env, space: str, wrapper: type[gymnasium.Wrapper]) -> str:
    """The class of one of gymnasium's environments; "" where wrappers may change this space."""
    kind = type(env.unwrapped)
    is_wrapped = any(isinstance(layer, wrapper) for layer in layers_of(env))
    is_changed = is_wrapped or getattr(env, space) != getattr(env.unwrapped, space)
    return "" if is_changed or not kind.__module__.startswith("gymnasium.envs.") else kind.__name__


def value_and_policy(agent: Agent, observations: Any) -> tuple[NDArray, NDArray]:
    """The value of the policy, (n,), and its action probabilities, (n, n_actions)."""
    probabilities = agent.action_probabilities(observations)
    return (probabilities * agent.action_values(observations)).sum(axis=1), probabilities
