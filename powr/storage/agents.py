"""Writing and reading an agent."""

from __future__ import annotations

import inspect
import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

import powr
from powr.data import History
from powr.files import written_aside
from powr.kernels import Kernel
from powr.storage.records import (
    check_environment,
    describe_env,
    describe_kernel,
    describe_spaces,
    make_kernel,
    make_recorded_env,
)
from powr.validation import check_finite, check_transitions

if TYPE_CHECKING:
    from powr.environments.agent import Agent

FORMAT = 3

A = TypeVar("A", bound="Agent")

# What zipfile and numpy raise for bytes that are not those they wrote, and what metadata of the
# wrong shape raise where they are used.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, OverflowError)


def save(agent: Agent, path: str | Path) -> None:
    """Write the agent to `path`, whole or not at all."""
    cls = type(agent)
    if cls.__module__.split(".")[0] != "powr":
        raise ValueError(f"a {cls.__name__} cannot be saved: its file could not be loaded again")
    state, arrays = agent._state()
    names = [name for name in inspect.signature(cls).parameters if name not in ("env", "kernel")]
    metadata = {
        "format": FORMAT,
        "version": powr.__version__,
        "algorithm": cls.__name__,
        "environment": describe_env(agent.env),
        "spaces": describe_spaces(agent.env),
        "settings": {name: getattr(agent, name) for name in names},
        "kernel": describe_kernel(agent.kernel),
        "starts": agent.data.starts,
        "state": state,
        "random_states": {
            "training": agent._generator.bit_generator.state,
            "prediction": agent._prediction_generator.bit_generator.state,
        },
    }
    text = np.array(json.dumps(metadata, allow_nan=False))
    contents: Any = {"metadata": text, **pack(agent.data), **arrays}
    with written_aside(path) as file:
        np.savez_compressed(file, **contents)


def load(
    cls: type[A], path: str | Path, env: gymnasium.Env | str | None, kernel: Kernel | None
) -> A:
    """Read an agent of class `cls`, in the environment given or in one made from its record."""
    try:
        arrays = read_arrays(path)
        metadata = read_metadata(arrays.pop("metadata"))
        if metadata["algorithm"] != cls.__name__:
            name = metadata["algorithm"]
            raise ValueError(f"it holds an agent of {name}: use {name}.load")
        agent = restore(cls, metadata, arrays, env, kernel)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    except _MALFORMED as error:
        raise ValueError(
            f"{path} cannot be loaded: its contents are not as save writes them ({error!r})"
        ) from error
    return agent


def algorithm_of(path: str | Path) -> str:
    """The name of the class that wrote a file."""
    try:
        return str(read_metadata(read_arrays(path)["metadata"])["algorithm"])
    except (ValueError, *_MALFORMED) as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error


def read_arrays(path: str | Path) -> dict[str, NDArray]:
    """All arrays of a file; Python objects, which only pickle could read, are refused."""
    with open(path, "rb"):  # a missing file is an OSError, unlike one that is not an archive
        pass
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (*_DAMAGE, ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"it is not an .npz file of an agent, or it is damaged ({error})"
        ) from error


def read_metadata(text: NDArray) -> dict[str, Any]:
    if text.dtype.kind != "U" or text.shape != ():
        raise ValueError(f"its metadata are not text but {text.dtype} of shape {text.shape}")
    metadata = json.loads(str(text))
    if metadata["format"] != FORMAT:
        raise ValueError(
            f"it has format {metadata['format']!r}, written by powr {metadata.get('version')}, but "
            f"powr {powr.__version__} reads format {FORMAT}: load it with the version that wrote it"
        )
    return metadata


def restore(
    cls: type[A],
    metadata: dict[str, Any],
    arrays: dict[str, NDArray],
    env: gymnasium.Env | str | None,
    kernel: Kernel | None,
) -> A:
    is_from_record = env is None
    if env is None:
        env = make_recorded_env(metadata["environment"])
    settings: Any = {**metadata["settings"], "kernel": make_kernel(metadata["kernel"], kernel)}
    agent: Any = cls(env, **settings)
    check_environment(metadata, agent.env, is_from_record)
    unpack(agent.data, arrays, metadata["starts"], agent.n_actions)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"its {name} are {array.dtype}, not numbers")
        check_finite(array, f"its {name}")
    agent._restore(metadata["state"], arrays)
    agent._generator.bit_generator.state = metadata["random_states"]["training"]
    agent._prediction_generator.bit_generator.state = metadata["random_states"]["prediction"]
    return agent


def pack(data: History) -> dict[str, NDArray]:
    """The columns of a history; next states only where they are not the state of the next row."""
    states, actions, rewards, next_states, terminated = data.columns()
    last = chain_ends(states, next_states)
    return {
        "states": smallest(states),
        "last_states": smallest(next_states[last]),
        "breaks": last,
        "actions": smallest(actions),
        "rewards": rewards,
        "terminated": terminated,
        "ended": data.ended,
    }


def unpack(data: History, arrays: dict[str, NDArray], starts: list[int], n_actions: int) -> None:
    """Fill an empty history from what `pack` made."""
    states, breaks = arrays["states"], arrays["breaks"]
    next_states = np.concatenate([states[1:], states[:1]])
    next_states[breaks] = arrays["last_states"]
    ended = arrays["ended"]
    columns = (
        check_transitions(
            states,
            arrays["actions"],
            arrays["rewards"],
            next_states,
            arrays["terminated"],
            n_actions=n_actions,
            shape=data.state_shape,
        )
        if len(states)
        else data.columns()
    )
    rows = [0, *starts, len(states)]
    if ended.dtype != bool or ended.shape != (len(states),) or rows != sorted(rows):
        raise ValueError("its episodes do not fit its transitions")
    data.extend(columns, ended, [int(start) for start in starts])


def chain_ends(states: NDArray, next_states: NDArray) -> NDArray:
    """True in each row whose next state is not the state of the row after it."""
    breaks = np.ones(len(states), bool)
    differs = next_states[:-1] != states[1:]
    breaks[:-1] = differs if differs.ndim == 1 else differs.any(axis=1)
    return breaks


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
