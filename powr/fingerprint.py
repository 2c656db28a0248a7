"""The plain data in an environment and its wrappers, by which a use of it is noticed."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec


def layers_of(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """The environment, and what it wraps."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


# Where the state of an environment is looked for: not in longer collections, nor in deeper ones.
_LONGEST, _DEEPEST = 100, 4

# What an environment holds besides its state.
_NOT_STATE = (gymnasium.Env, gymnasium.Space, EnvSpec, ModuleType, type)

_PLAIN = (int, float, str, np.generic)
_WITHOUT_ATTRIBUTES = (np.ndarray, np.random.Generator, *_NOT_STATE)
_COLLECTIONS = (list, tuple, deque, dict, set)


def glance(attributes: dict[str, Any], within_object: bool = False) -> dict[str, Any]:
    """Attributes as `plain` has them, but without large collections, for a look at every step.

    What an object holds is looked at one by one: beside a large map there may be a small state.
    """
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if value is None or isinstance(value, _PLAIN):  # nearly all are, and this is quickest
            found[name] = value
        elif isinstance(value, _COLLECTIONS):
            found[name] = leaves_of(value, within_object)
        elif within_object or isinstance(value, _WITHOUT_ATTRIBUTES):
            found[name] = plain(value, within_object=within_object)
        else:
            found[name] = glance(getattr(value, "__dict__", {}), within_object=True)
    return found


def leaves_of(collection: Any, within_object: bool) -> list[Any] | None:
    """The plain data in a collection and in those within it; None where there are many items."""
    items, leaves = [collection], []
    for item in items:  # which grows meanwhile
        if item is None or isinstance(item, _PLAIN):
            leaves.append(item)
        elif isinstance(item, _COLLECTIONS):
            if len(items) + len(item) > _LONGEST:
                return None
            leaves.append(len(item))
            items.extend(item)
            if isinstance(item, dict):
                items.extend(item.values())
        else:
            leaves.append(plain(item, within_object=within_object))
    return leaves


def plain(value: Any, depth: int = _DEEPEST, within_object: bool = False) -> Any:
    """The value in a form that later changes leave alone; None if it is not plain data.

    An object is its attributes, without the objects among them.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.random.Generator):
        return plain_items(value.bit_generator.state, _DEEPEST, within_object)
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, _COLLECTIONS):
        return plain_items(value, depth, within_object)
    if within_object or isinstance(value, _NOT_STATE):
        return None
    return plain_items(getattr(value, "__dict__", {}), depth, within_object=True)


def plain_items(values: Any, depth: int, within_object: bool) -> Any:
    if depth == 0 or len(values) > _LONGEST:
        return None
    try:
        return json.dumps(values)  # many times as fast
    except (TypeError, ValueError, RecursionError):  # there are arrays or objects among them
        items = values.items() if isinstance(values, dict) else enumerate(values)
        return {key: plain(item, depth - 1, within_object) for key, item in items}
