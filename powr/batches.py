"""Batches of observations that consist of parts, as those of `Tuple` and `Dict` spaces do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Space, Tuple
from numpy.typing import NDArray

# What to do about a batch that could not be read.
_BATCHES = ": give several observations as a list of them, or as gymnasium does, an array per part"


def parts_of(space: Tuple | Dict) -> list[tuple[Any, Space]]:
    """The spaces that a space consists of, and what to index an observation with to get at each."""
    return list(space.items() if isinstance(space, Dict) else enumerate(space))


def in_parts(space: Space, observations: Any, name: str = "observation") -> Any:
    """One observation, or a batch of them with an array or a list for each part.

    What has the form of one observation is one. Any other list or array holds an observation per
    item. Any other tuple or dict holds a batch per part, as gymnasium's vector environments do.
    """
    if not isinstance(space, Tuple | Dict):
        return observations
    if is_list(observations) and not has_form_of(space, observations):
        observations = transposed(space, observations, name)
    check_split(space, observations, name)
    return {
        key: in_parts(part, observations[key], f"{name}[{key!r}]") for key, part in parts_of(space)
    }


def transposed(space: Tuple | Dict, rows: list | NDArray, name: str) -> Any:
    """A list of observations as a list per part."""
    for number, row in enumerate(rows):
        if not has_form_of(space, row):
            raise ValueError(f"{name}[{number}] must be an observation, got {row!r}{_BATCHES}")
    parts = {key: [row[key] for row in rows] for key, _ in parts_of(space)}
    return parts if isinstance(space, Dict) else tuple(parts.values())


def check_split(space: Tuple | Dict, value: Any, name: str) -> None:
    if not is_split(space, value):
        if isinstance(space, Dict):
            raise ValueError(f"{name} must be a dict with {', '.join(map(repr, space))}{_BATCHES}")
        found = len(value) if isinstance(value, tuple) else repr(value)
        raise ValueError(f"{name} must be a tuple of {len(space)} parts, got {found}{_BATCHES}")
    if isinstance(space, Dict):
        return
    for key, part in parts_of(space):
        # As many tuples as there are parts could be as many observations.
        is_leaf = not isinstance(part, Tuple | Dict)
        if is_leaf and isinstance(value[key], tuple) and not has_form_of(part, value[key]):
            raise ValueError(f"{name} must not be a tuple of tuples{_BATCHES}")


def has_form_of(space: Space, value: Any) -> bool:
    """Whether a value has the parts and dimensions of one observation."""
    if not isinstance(space, Tuple | Dict):
        return np.ndim(value) == len(space.shape or ())
    return is_split(space, value) and all(
        has_form_of(part, value[key]) for key, part in parts_of(space)
    )


def is_split(space: Tuple | Dict, value: Any) -> bool:
    """Whether a value has the parts of a space."""
    if isinstance(space, Dict):
        return isinstance(value, Mapping) and space.keys() <= value.keys()
    return (isinstance(value, tuple) or is_list(value)) and len(value) == len(space)


def is_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)
