"""What a saved agent says of its environment, spaces and kernel, as JSON data, and back again.

Nothing that a file names is ever imported: an environment is made by its id, a kernel by a name
from a fixed list, and everything else must be given by the caller.
"""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Space

from powr.kernels import BUILT_IN, Kernel, check_kernel, sample_states
from powr.rollout import limit_of
from powr.spaces import finite_parts

# The name in a record of every kernel that is not built in.
CUSTOM = "custom"

# -- environments ---------------------------------------------------------------------------------


def describe_env(env: gymnasium.Env) -> dict[str, Any]:
    """What gymnasium.make needs to make it anew; without "kwargs" where that is not enough."""
    limit = limit_of(env)
    if env.spec is None:
        return {"id": None, "max_episode_steps": limit}
    record = {"id": env.spec.id, "max_episode_steps": limit}
    kwargs = {key: value for key, value in env.spec.kwargs.items() if key != "render_mode"}
    registered = gymnasium.registry.get(env.spec.id)
    as_registered = registered and env.spec.additional_wrappers == registered.additional_wrappers
    if as_registered and has_text_keys(kwargs):
        try:
            return {**record, "kwargs": json.loads(json.dumps(kwargs, allow_nan=False))}
        except (TypeError, ValueError):
            return record
    return record


def has_text_keys(value: Any) -> bool:
    """Whether all keys within are texts, as all of JSON's are: others would come back as texts."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and has_text_keys(item) for key, item in value.items())
    return not isinstance(value, list | tuple) or all(map(has_text_keys, value))


def describe_spaces(env: gymnasium.Env) -> dict[str, Any]:
    return {
        "observation": describe_space(env.observation_space),
        "action": describe_space(env.action_space),
    }


def describe_space(space: Space) -> dict[str, Any]:
    if isinstance(space, Discrete):
        return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, Box):
        # Bounds as text, since JSON has no infinity.
        bounds = {"low": [*map(str, space.low.flat)], "high": [*map(str, space.high.flat)]}
        shape = {} if len(space.shape) == 1 else {"shape": list(space.shape)}
        return {"type": "Box", **bounds, **shape, "dtype": str(space.dtype)}
    parts = [
        {"path": list(part.path), "low": part.low.tolist(), "sizes": part.sizes.tolist()}
        for part in finite_parts(space)
    ]
    return {"type": type(space).__name__, "parts": parts}


def make_recorded_env(record: dict[str, Any]) -> gymnasium.Env:
    name = record["id"]
    if name is None or "kwargs" not in record:
        raise ValueError(
            f"its environment ({name or 'without an id'}) cannot be made from an id and JSON "
            "arguments alone: give env"
        )
    if ":" in name:
        raise ValueError(
            f"its environment {name!r} would import a module: give env if you trust it"
        )
    limit = record["max_episode_steps"]
    try:
        return gymnasium.make(
            name, max_episode_steps=-1 if limit is None else limit, **record["kwargs"]
        )
    except Exception as error:  # an environment may raise anything
        raise ValueError(
            f"its environment {name} cannot be made here ({error}): give env"
        ) from error


def check_environment(metadata: dict[str, Any], env: gymnasium.Env) -> None:
    trained, given = metadata["environment"]["id"], env.spec and env.spec.id
    if trained and given and trained != given:
        raise ValueError(f"it was trained on {trained}, not on {given}")
    for kind, space in describe_spaces(env).items():
        if metadata["spaces"][kind] != space:
            raise ValueError(
                f"it was trained with the {kind} space {metadata['spaces'][kind]}, "
                f"but the environment's is {space}"
            )


# -- kernels --------------------------------------------------------------------------------------


def describe_kernel(kernel: Kernel | None, state_shape: tuple[int, ...]) -> dict[str, Any] | None:
    """Name and bandwidth of a built-in kernel; of another one, how to know it again."""
    if kernel is None:
        return None
    if type(kernel) in BUILT_IN.values():
        bandwidth = getattr(kernel, "bandwidth", None)
        settings = {} if bandwidth is None else {"bandwidth": bandwidth.tolist()}
        return {"name": type(kernel).__name__, **settings}
    return {"name": CUSTOM, "type": type_name(kernel), "gram": sample_gram(kernel, state_shape)}


def make_kernel(
    record: dict[str, Any] | None, given: Kernel | None, state_shape: tuple[int, ...]
) -> Kernel | None:
    """The kernel of a record: a built-in one made anew, or the one given where it is the same."""
    if record is None:
        return None
    if record["name"] == CUSTOM:
        return check_known_again(record, given, state_shape)
    settings = {**record}
    name = settings.pop("name")
    if name not in BUILT_IN:
        raise ValueError(f"its kernel {name!r} is not one of {', '.join(BUILT_IN)}")
    kernel = BUILT_IN[name](**settings)
    check_kernel(kernel, state_shape)
    if given is not None and given != kernel:
        raise ValueError(f"it was trained with the kernel {kernel!r}, not with {given!r}")
    return kernel


def check_known_again(
    record: dict[str, Any], given: Kernel | None, state_shape: tuple[int, ...]
) -> Kernel:
    if given is None:
        raise ValueError(
            f"its kernel {record['type']} is not one of powr's own, and a file is never asked for "
            "code: load it in Python by POWR.load(path, kernel=...), the one it was trained with"
        )
    check_kernel(given, state_shape)
    expected, found = np.array(record["gram"], float), sample_gram(given, state_shape)
    if expected.shape != np.shape(found) or not np.allclose(expected, found, rtol=1e-9):
        raise ValueError(
            f"it was trained with the kernel {record['type']}, which has other values at the same "
            f"states than the one given, {given!r}"
        )
    return given


def type_name(kernel: Kernel) -> str:
    named = kernel if hasattr(kernel, "__qualname__") else type(kernel)
    return f"{named.__module__}.{named.__qualname__}"


def sample_gram(kernel: Kernel, state_shape: tuple[int, ...]) -> list[list[float]]:
    states = sample_states(state_shape, 5)
    return np.asarray(kernel(states, states), float).tolist()
