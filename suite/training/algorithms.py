"""From the settings of a run to an agent ready to train: POWR, or one of the baselines."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium

import baselines
from powr import POWR
from powr.kernels import Dirac, Exponential, Gaussian, Kernel
from suite import SuiteError
from suite.training import environments

KERNELS = {kernel.__name__: kernel for kernel in (Dirac, Gaussian, Exponential)}

Callback = Callable[[Any], bool]  # called with the agent after every timestep; True stops
Learn = Callable[[int, Callback], Any]  # timesteps, callback
MakeEnv = Callable[[], gymnasium.Env]


def build(settings: dict[str, Any], seeds: dict[str, int]) -> Learn:
    """The function that trains a new agent; every agent has `num_timesteps` and `predict`."""
    algorithm = settings["algorithm"]
    make_env = functools.partial(environments.make, settings["environment"])
    build_agent = _build_powr if algorithm["class"] == "powr" else _build_baseline
    try:
        return build_agent(algorithm, make_env, seeds)
    except (TypeError, ValueError, AssertionError) as error:
        raise SuiteError(
            f"{algorithm['class']} does not accept the settings {algorithm['settings']} on "
            f"{settings['environment']['id']}: {error}"
        ) from error


def _build_powr(algorithm: dict[str, Any], make_env: MakeEnv, seeds: dict[str, int]) -> Learn:
    arguments = dict(algorithm["settings"])
    if "kernel" in arguments:
        arguments["kernel"] = build_kernel(**arguments["kernel"])
    # POWR draws the seeds of its episodes itself, so its one seed covers the environment too.
    return POWR(make_env(), seed=seeds["agent"], **arguments).learn


def build_kernel(name: str, **parameters: Any) -> Kernel:
    if name not in KERNELS:
        raise ValueError(f"kernel {name} is not one of {', '.join(KERNELS)}")
    return KERNELS[name](**parameters)


def _build_baseline(algorithm: dict[str, Any], make_env: MakeEnv, seeds: dict[str, int]) -> Learn:
    return baselines.find(algorithm["class"])(
        algorithm["policy"],
        make_env,
        agent_seed=seeds["agent"],
        training_seed=seeds["training"],
        **algorithm["settings"],
    ).learn
