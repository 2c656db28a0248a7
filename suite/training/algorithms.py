"""From the settings of a run to an agent ready to train."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import baselines
from powr.agent import Agent
from powr.kernels import make_kernel
from suite import SuiteError
from suite.training import environments

Callback = Callable[[Any], bool]  # called with the agent after every timestep; False stops
Learn = Callable[..., Any]  # timesteps, callback: Callback


def build(settings: dict[str, Any], seeds: dict[str, int], run_seed: int | None = None) -> Learn:
    """The function that trains a new agent; every agent has `num_timesteps` and `predict`."""
    algorithm = settings["algorithm"]
    make_env = functools.partial(environments.make, settings["environment"], run_seed)
    found = find(algorithm["class"])
    try:
        if "make_env" in inspect.signature(found).parameters:
            own = {"agent_seed": seeds["agent"], "training_seed": seeds["training"]}
            given = {"make_env": make_env, **own}
        else:
            # The agent draws the seeds of its episodes itself, so one seed covers both.
            given = {"env": make_env(), "seed": seeds["agent"]}
        return found(**given, **own_arguments(algorithm)).learn
    except (TypeError, ValueError, AssertionError) as error:
        raise SuiteError(
            f"{algorithm['class']} does not accept the settings {algorithm['settings']} on "
            f"{settings['environment']['id']}: {error}"
        ) from error


def find(name: str) -> type[Any]:
    """The class of this name; one that cannot be imported is a mistake in the study."""
    try:
        return baselines.find(name)
    except ValueError as error:
        raise SuiteError(str(error)) from error


def saves_agent(name: str) -> bool:
    """Whether runs of a class leave a trained agent beside them: one that `load` can read."""
    found = find(name)
    return issubclass(found, Agent) and not getattr(found, "is_ablation", False)


def own_arguments(algorithm: dict[str, Any]) -> dict[str, Any]:
    """What envs.yaml sets; a kernel is named there."""
    arguments = dict(algorithm["settings"])
    if "policy" in algorithm:
        arguments["policy"] = algorithm["policy"]
    if "kernel" in arguments:
        arguments["kernel"] = make_kernel(**arguments["kernel"])
    return arguments
