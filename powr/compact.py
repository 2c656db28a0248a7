"""Transitions in few bytes: each distinct state once, and chains of steps as paths of states.

A transition usually starts where the one before it ended. A chain of such transitions is stored as
the numbers of the states along it: 150,000 steps in Taxi, compressed, take a quarter of a megabyte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from powr.transitions import Columns, StateIndex

NAMES = ("states", "path", "chain_lengths", "actions", "rewards", "terminated", "chunk_lengths")


def pack(chunks: Sequence[Columns], state_shape: tuple[int, ...]) -> dict[str, NDArray]:
    """Chunks of transitions as arrays, from which `unpack` makes the same chunks again."""
    nothing = np.empty((0, *state_shape), float if state_shape else int)
    empty = (nothing, np.empty(0, int), np.empty(0), nothing, np.empty(0, bool))
    states, actions, rewards, next_states, terminated = (
        np.concatenate(parts) for parts in zip(empty, *chunks, strict=True)
    )
    index = StateIndex(state_shape)
    visited = np.stack([states, next_states], axis=1).reshape(-1, *state_shape)
    numbers = index.number(visited)
    starts, ends = numbers[0::2], numbers[1::2]

    breaks = np.ones(len(actions), bool)
    breaks[:-1] = ends[:-1] != starts[1:]
    last = np.flatnonzero(breaks)
    return {
        "states": smallest(index.states),
        "path": smallest(np.insert(starts, last + 1, ends[last])),
        "chain_lengths": smallest(np.diff(last, prepend=-1)),
        "actions": smallest(actions),
        "rewards": rewards,
        "terminated": terminated,
        "chunk_lengths": smallest(np.array([len(chunk[1]) for chunk in chunks], int)),
    }


def unpack(arrays: Mapping[str, NDArray], state_shape: tuple[int, ...]) -> list[Columns]:
    """The chunks of transitions that were packed; arrays that do not fit are refused."""
    check_packed(arrays, state_shape)
    states = arrays["states"].astype(float if state_shape else int)
    path = arrays["path"].astype(int)
    chain_ends = np.cumsum(arrays["chain_lengths"].astype(int) + 1) - 1
    chain_starts = np.concatenate([[0], chain_ends[:-1] + 1])[: len(chain_ends)]
    columns = (
        states[np.delete(path, chain_ends)],
        arrays["actions"].astype(int),
        arrays["rewards"],
        states[np.delete(path, chain_starts)],
        arrays["terminated"],
    )
    splits = np.cumsum(arrays["chunk_lengths"].astype(int))[:-1]
    chunks = zip(*(np.split(column, splits) for column in columns), strict=True)
    return list(chunks) if len(arrays["chunk_lengths"]) else []


def smallest(values: NDArray) -> NDArray:
    """The same values in the smallest type that holds them."""
    if len(values) == 0:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        return single if (single == values).all() else values
    low, high = int(values.min()), int(values.max())
    # A signed type that holds -high - 1 holds high.
    return values.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))


def check_packed(arrays: Mapping[str, NDArray], state_shape: tuple[int, ...]) -> None:
    """Refuse arrays that no set of transitions is packed into."""
    kinds = dict.fromkeys(NAMES, "iu") | {"rewards": "f", "terminated": "b"}
    kinds["states"] = "f" if state_shape else "iu"
    for name, kind in kinds.items():
        shape = state_shape if name == "states" else ()
        if arrays[name].dtype.kind not in kind or arrays[name].shape[1:] != shape:
            found = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            raise ValueError(f"its {name} are {found}, which does not fit the observations")
    n_transitions, n_chains = len(arrays["actions"]), len(arrays["chain_lengths"])
    lengths = {
        "rewards": len(arrays["rewards"]),
        "terminated": len(arrays["terminated"]),
        "path": len(arrays["path"]) - n_chains,
        "chain_lengths": int(arrays["chain_lengths"].sum()),
        "chunk_lengths": int(arrays["chunk_lengths"].sum()),
    }
    for name, length in lengths.items():
        if length != n_transitions:
            raise ValueError(
                f"its {name} are for {length} transitions, its actions {n_transitions}"
            )
    if n_transitions and not 0 <= arrays["path"].min() <= arrays["path"].max() < len(
        arrays["states"]
    ):
        raise ValueError("its path leads to states that are not stored")
