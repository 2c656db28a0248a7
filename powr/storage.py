"""Agents as files: one `.npz` of plain arrays and JSON, and nothing executable.

A file holds settings, data, policy and random state, so that a loaded agent continues as the saved
one would. Nothing that a file names is imported: environments are made by their ids, kernels by a
name from a fixed list, and the class is that of the caller, which must have the recorded name.
"""

from __future__ import annotations

import inspect
import json
import math
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray

import powr
from powr.data import History
from powr.environment import SpacesAlone, layers_of, limit_of, make
from powr.files import written_aside
from powr.kernels import BUILT_IN, Kernel, make_kernel
from powr.validation import check_finite, check_transitions

if TYPE_CHECKING:
    from powr.agent import Agent

FORMAT = 3

A = TypeVar("A", bound="Agent")

# The name in a record of every kernel that is not built in.
CUSTOM = "custom"

# Arguments of agents that are no settings.
_GIVEN_APART = ("env", "observation_space", "action_space", "kernel")

# Wrappers that change neither observations nor rewards nor actions.
_NEUTRAL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)

# Classes of spaces besides `Tuple` and `Dict`, and the arguments that make them.
_SPACES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "Box": (Box, ("low", "high")),
    "Discrete": (Discrete, ("n", "start")),
    "MultiDiscrete": (MultiDiscrete, ("nvec", "start")),
    "MultiBinary": (MultiBinary, ("n",)),
}

# What zipfile and numpy raise for bytes that are not those they wrote, and what metadata of the
# wrong shape raise where they are used.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)

# What an agent's file holds: the columns of its data, and more.
_COLUMNS = {"states", "breaks", "actions", "rewards", "terminated", "ended"}
_REQUIRED = _COLUMNS | {"metadata", "last_states"}
_MEMBERS = _REQUIRED | {"coefficients"}

# Limits of what is read: bytes unpacked, however small the file, or as a multiple of its size; the
# characters of metadata, of which episodes and epochs take some per row; those of the arguments
# with which an environment is made.
_ALWAYS_READ, _LARGEST_RATIO = 2**26, 200
_CHARACTERS, _CHARACTERS_PER_ROW = 2**16, 32
_LONGEST_ARGUMENTS = 2**14


def save(agent: Agent, path: str | Path) -> None:
    """Write the agent to `path`, whole or not at all."""
    state, arrays = agent._state()
    parameters = inspect.signature(type(agent)).parameters
    settings = [name for name in parameters if name not in _GIVEN_APART]
    metadata = {
        "format": FORMAT,
        "version": powr.__version__,
        "algorithm": type(agent).__name__,
        "environment": {**describe_env(agent.env), "id": agent._interface.id},
        "spaces": spaces_in_words(agent.env),
        "settings": {name: getattr(agent, name) for name in settings},
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
        return read(cls, path, env, kernel)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    except _MALFORMED as error:
        raise ValueError(
            f"{path} cannot be loaded: its contents are not as save writes them ({error!r})"
        ) from error


def read(
    cls: type[A], path: str | Path, env: gymnasium.Env | str | None, kernel: Kernel | None
) -> A:
    arrays = read_arrays(path)
    text = arrays.pop("metadata")
    if text.dtype.kind != "U" or text.shape != ():
        raise ValueError(f"its metadata are not text but {text.dtype} of shape {text.shape}")
    metadata = json.loads(str(text))
    if metadata["format"] != FORMAT:
        raise ValueError(
            f"it has format {metadata['format']!r}, written by powr {metadata.get('version')}, but "
            f"powr {powr.__version__} reads format {FORMAT}: load it with the version that wrote it"
        )
    if (name := metadata["algorithm"]) != cls.__name__:
        raise ValueError(f"it holds an agent of {name}: use {name}.load")
    settings: Any = {**metadata["settings"], "kernel": read_kernel(metadata["kernel"], kernel)}
    agent: Any = cls(env or remake_env(metadata["environment"]), **settings)
    check_environment(metadata, agent.env, was_given=env is not None)
    unpack(agent.data, arrays, metadata["starts"], agent.n_actions)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"its {name} are {array.dtype}, not numbers")
        check_finite(array, f"its {name}")
    agent._restore(metadata["state"], arrays)
    agent._generator.bit_generator.state = metadata["random_states"]["training"]
    agent._prediction_generator.bit_generator.state = metadata["random_states"]["prediction"]
    return agent


def read_arrays(path: str | Path) -> dict[str, NDArray]:
    """The arrays of a file, once their declared sizes are known to fit the file and each other.

    Python objects, which only pickle could read, are refused.
    """
    with open(path, "rb"):  # a missing file is an OSError, unlike one that is not an archive
        pass
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(archive, Path(path).stat().st_size)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (*_DAMAGE, ValueError, TypeError, AttributeError, MemoryError) as error:
        raise ValueError(
            f"it is not an .npz file of an agent, or it is damaged ({error})"
        ) from error


def check_members(archive: zipfile.ZipFile, file_size: int) -> None:
    """Refuse, by their headers alone, members that no agent has or that are too large to read."""
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != len(archive.infolist()) or not _REQUIRED <= members.keys() <= _MEMBERS:
        raise ValueError(f"its members are {sorted(members)[:20]}, not those of an agent")
    total = sum(info.file_size for info in members.values())
    if total > max(_ALWAYS_READ, _LARGEST_RATIO * file_size):
        raise ValueError(f"{file_size:,} bytes would unpack to {total:,}")
    rows = set()
    for name, info in members.items():
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its {name} are compressed in another way than save does it")
        shape, size = declared(archive, info)
        if size != info.file_size:
            raise ValueError(f"its {name} declare {size:,} bytes, but hold {info.file_size:,}")
        if name in _COLUMNS:
            rows.add(shape[:1])
    if len(rows) > 1:
        raise ValueError(f"its columns declare different lengths: {sorted(rows)}")
    n_characters, n_rows = members["metadata"].file_size // 4, max(next(iter(rows)), default=0)
    if n_characters > _CHARACTERS + _CHARACTERS_PER_ROW * n_rows:
        raise ValueError(f"its metadata have {n_characters:,} characters for {n_rows:,} rows")


def declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], int]:
    """The shape that the header of an array declares, and the bytes that header and array take."""
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, _, dtype = read[version[0]](file)
        if dtype.hasobject:
            raise ValueError("Python objects are refused, as by allow_pickle=False")
        return shape, file.tell() + math.prod(shape) * dtype.itemsize


# -- data -----------------------------------------------------------------------------------------


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
    states, breaks, ended = arrays["states"], arrays["breaks"], arrays["ended"]
    next_states = np.concatenate([states[1:], states[:1]])
    next_states[breaks] = arrays["last_states"]
    actions, rewards, terminated = (arrays[key] for key in ("actions", "rewards", "terminated"))
    columns = data.columns()
    if len(states):
        given = (states, actions, rewards, next_states, terminated)
        columns = check_transitions(*given, n_actions=n_actions, shape=data.state_shape)
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


# -- records of environment and kernel ------------------------------------------------------------


def describe_env(env: gymnasium.Env) -> dict[str, Any]:
    """The arguments of gymnasium.make; no "kwargs" if they are not enough to make it again."""
    *wrappers, _ = layers_of(env)
    names = [type(layer).__name__ for layer in wrappers if not isinstance(layer, _NEUTRAL)]
    record = {"id": env.spec and env.spec.id, "max_episode_steps": limit_of(env), "wrappers": names}
    if isinstance(env, SpacesAlone):
        spaces = (env.observation_space, env.action_space)
        return {**record, "spaces": [describe_space(space) for space in spaces]}
    if env.spec is None:
        return record
    kwargs = {key: value for key, value in env.spec.kwargs.items() if key != "render_mode"}
    registered = gymnasium.registry.get(env.spec.id)
    as_registered = registered and env.spec.additional_wrappers == registered.additional_wrappers
    try:
        if as_registered and json.loads(json.dumps(kwargs, allow_nan=False)) == kwargs:
            return {**record, "kwargs": kwargs}
    except (TypeError, ValueError):
        pass
    return record


def describe_space(space: Space) -> dict[str, Any]:
    """A space as JSON: the arguments that make it, as text since bounds may be infinite."""
    if isinstance(space, Tuple):
        return {"Tuple": [describe_space(part) for part in space]}
    if isinstance(space, Dict):
        return {"Dict": {key: describe_space(part) for key, part in space.items()}}
    kind = type(space).__name__
    if kind not in _SPACES:
        raise ValueError(f"{space} cannot be saved")
    arguments = {name: np.asarray(getattr(space, name)) for name in _SPACES[kind][1]}
    texts = {name: values.astype(str).tolist() for name, values in arguments.items()}
    return {kind: [str(space.dtype) if kind == "Box" else "int64", texts]}


def make_space(record: dict[str, Any]) -> Space:
    """The inverse of `describe_space`."""
    ((kind, content),) = record.items()
    if kind == "Tuple":
        return Tuple([make_space(part) for part in content])
    if kind == "Dict":
        return Dict({key: make_space(part) for key, part in content.items()})
    if kind not in _SPACES or (dtype := np.dtype(content[0])).kind not in "biuf":
        raise ValueError(f"its space {kind!r} is unknown, or not one of numbers")
    make, names = _SPACES[kind]
    arguments: dict[str, Any] = {name: np.array(content[1][name], dtype) for name in names}
    if kind == "Box":
        return Box(**arguments, dtype=dtype.type)
    return make(**{name: values.tolist() for name, values in arguments.items()})


def spaces_in_words(env: gymnasium.Env) -> dict[str, str]:
    return {"observation": str(env.observation_space), "action": str(env.action_space)}


def remake_env(record: dict[str, Any]) -> gymnasium.Env:
    if "spaces" in record:
        return SpacesAlone(*map(make_space, record["spaces"]))
    name, limit = record["id"], record["max_episode_steps"]
    if name is None or "kwargs" not in record:
        raise ValueError(
            f"its environment ({name or 'without an id'}) cannot be made from an id and JSON "
            "arguments alone: give env"
        )
    if len(json.dumps(record["kwargs"])) > _LONGEST_ARGUMENTS:
        raise ValueError(f"its environment {name!r} has very long arguments: give env")
    if ":" in name:
        raise ValueError(
            f"its environment {name!r} would import a module: if you trust it, give env={name!r}"
        )
    try:
        return make(name, max_episode_steps=-1 if limit is None else limit, **record["kwargs"])
    except ValueError as error:
        raise ValueError(f"its environment {error}: give env") from error


def check_environment(metadata: dict[str, Any], env: gymnasium.Env, was_given: bool) -> None:
    """Refuse an environment with another id or other spaces; warn about other wrappers."""
    recorded = metadata["environment"]
    trained, given = recorded["id"], env.spec and env.spec.id
    if trained and given and trained.rpartition(":")[2] != given:
        raise ValueError(f"it was trained on {trained}, not on {given}")
    for kind, space in spaces_in_words(env).items():
        if metadata["spaces"][kind] != space:
            raise ValueError(
                f"it was trained with the {kind} space {metadata['spaces'][kind]}, "
                f"but the environment's is {space}"
            )
    wrappers = describe_env(env)["wrappers"]
    if was_given and wrappers != recorded["wrappers"]:
        warnings.warn(
            f"the agent was trained with the wrappers {recorded['wrappers'] or 'none'}, but the "
            f"environment has {wrappers or 'none'}: rewards or observations may differ",
            stacklevel=5,
        )


def describe_kernel(kernel: Kernel | None) -> dict[str, Any] | None:
    """Name and bandwidth of a built-in kernel; of another one, its type."""
    if kernel is None:
        return None
    if type(kernel) in BUILT_IN.values():
        bandwidth = getattr(kernel, "bandwidth", None)
        settings = {} if bandwidth is None else {"bandwidth": bandwidth.tolist()}
        return {"name": type(kernel).__name__, **settings}
    return {"name": CUSTOM, "type": type(kernel).__name__}


def read_kernel(record: dict[str, Any] | None, given: Kernel | None) -> Kernel | None:
    """The kernel of a record: built-in kernels are made by name, a custom one must be given."""
    if record is not None and record["name"] == CUSTOM:
        if given is None:
            raise ValueError(
                f"its kernel ({record['type']}) is not one of powr.kernels: give kernel, the one "
                "it was trained with"
            )
        return given
    kernel = None if record is None else make_kernel(**record)
    if given is not None and given != kernel:
        raise ValueError(f"it was trained with the kernel {kernel!r}, not with {given!r}")
    return kernel
