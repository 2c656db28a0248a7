"""The JSON records of an agent's environment and kernel: written, read and compared."""

from __future__ import annotations

import json
import warnings
from typing import Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from powr.environments.episodes import layers_of, limit_of
from powr.kernels import BUILT_IN, Kernel

# The name in a record of every kernel that is not built in.
CUSTOM = "custom"

# Wrappers that change neither observations nor rewards nor actions.
_NEUTRAL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)


def describe_env(env: gymnasium.Env) -> dict[str, Any]:
    """The arguments of gymnasium.make; no "kwargs" if they are not enough to make it again."""
    *wrappers, _ = layers_of(env)
    names = [type(layer).__name__ for layer in wrappers if not isinstance(layer, _NEUTRAL)]
    record = {"id": env.spec and env.spec.id, "max_episode_steps": limit_of(env), "wrappers": names}
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


def describe_spaces(env: gymnasium.Env) -> dict[str, str]:
    """The spaces in words, by which a loaded agent's are compared."""
    return {"observation": str(env.observation_space), "action": str(env.action_space)}


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


def check_environment(
    metadata: dict[str, Any], env: gymnasium.Env, is_from_record: bool = False
) -> None:
    """Refuse an environment with another id or other spaces; warn about other wrappers.

    No warning for one made from the record: only environments without wrappers can be.
    """
    recorded = metadata["environment"]
    trained, given = recorded["id"], env.spec and env.spec.id
    if trained and given and trained != given:
        raise ValueError(f"it was trained on {trained}, not on {given}")
    for kind, space in describe_spaces(env).items():
        if metadata["spaces"][kind] != space:
            raise ValueError(
                f"it was trained with the {kind} space {metadata['spaces'][kind]}, "
                f"but the environment's is {space}"
            )
    wrappers = describe_env(env)["wrappers"]
    if not is_from_record and wrappers != recorded["wrappers"]:
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


def make_kernel(record: dict[str, Any] | None, given: Kernel | None) -> Kernel | None:
    """The kernel of a record: built-in kernels are made by name, a custom one must be given."""
    if record is not None and record["name"] == CUSTOM:
        if given is None:
            raise ValueError(
                f"its kernel ({record['type']}) is not one of powr.kernels: give kernel, the one "
                "it was trained with"
            )
        return given
    kernel = None
    if record is not None:
        settings = {**record}
        name = settings.pop("name")
        if name not in BUILT_IN:
            raise ValueError(f"its kernel {name!r} is not one of {', '.join(BUILT_IN)}")
        kernel = BUILT_IN[name](**settings)
    if given is not None and given != kernel:
        raise ValueError(f"it was trained with the kernel {kernel!r}, not with {given!r}")
    return kernel
