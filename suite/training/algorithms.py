"""From the settings of a run to an agent ready to train; what is wrong in a study before that.

    python -m suite check --scale quick

The workflow checks a scale before its first job.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import baselines
from powr.agent import Agent
from powr.kernels import make_kernel
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config import Combination, Study
from suite.training import environments

Callback = Callable[[Any], bool]  # called with the agent after every timestep; False stops
Learn = Callable[..., Any]  # timesteps, callback: Callback


def build(settings: dict[str, Any], seeds: dict[str, int], run_seed: int | None = None) -> Learn:
    """The function that trains a new agent; every agent has `num_timesteps` and `predict`."""
    algorithm = settings["algorithm"]
    make_env = functools.partial(environments.make, settings["environment"], run_seed)
    agent_class = find(algorithm["class"])
    try:
        if "make_env" in inspect.signature(agent_class).parameters:
            given = {"make_env": make_env, "agent_seed": seeds["agent"]}
            given |= {"training_seed": seeds["training"]}
        else:
            # The agent draws the seeds of its episodes itself, so one seed covers both.
            given = {"env": make_env(), "seed": seeds["agent"]}
        return agent_class(**given, **own_arguments(algorithm)).learn
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
    agent_class = find(name)
    return issubclass(agent_class, Agent) and not getattr(agent_class, "is_ablation", False)


def own_arguments(algorithm: dict[str, Any]) -> dict[str, Any]:
    """What envs.yaml sets; a kernel is named there."""
    arguments = dict(algorithm["settings"])
    if "policy" in algorithm:
        arguments["policy"] = algorithm["policy"]
    if "kernel" in arguments:
        arguments["kernel"] = make_kernel(**arguments["kernel"])
    return arguments


# -- before anything runs -------------------------------------------------------------------------


def check_scale(study: Study, scale: str) -> None:
    """Make every environment and every agent of the scale once, and train none."""
    combinations = study.combinations(scale)
    for environment in dict.fromkeys(each.environment for each in combinations):
        check_environment(study, environment)
    for each in combinations:
        check_settings(study, each)
        with named(f"{study.path}: algorithms.{each.algorithm} on {each.environment}"):
            build(each.settings, {"agent": 0, "training": 0}, run_seed=0)


def check_environment(study: Study, name: str) -> None:
    """Refuse an environment that cannot be made or behaves in another way."""
    block, place = study.environments[name], f"{study.path}: environments.{name}"
    with named(place):
        fingerprint = environments.check_fingerprint(block.resolve())
    if not block.fingerprint:
        advice = f"add `fingerprint: {fingerprint}` to refuse one that behaves differently"
        print(f"{place}: {advice}", file=sys.stderr)


def check_settings(study: Study, combination: Combination) -> None:
    """Refuse settings that the class does not have, and the lack of one without a default."""
    block, place = study.algorithms[combination.algorithm], f"algorithms.{combination.algorithm}"
    with named(str(study.path)):
        with named(place):
            known = baselines.settings_of(find(block.class_))
        config.check_known(["policy"] if block.policy else [], known, place)
        config.check_known(block.settings, known, f"{place}.settings")
        for environment, settings in block.environments.items():
            config.check_known(settings, known, f"{place}.environments.{environment}")
        config.check_known(combination.varied, known, combination.scale)
        given = {
            **combination.settings["algorithm"],
            **combination.settings["algorithm"]["settings"],
        }
        for name, parameter in known.items():
            if parameter.default is parameter.empty and name not in given:
                place = f"{place} on {combination.environment}"
                raise SuiteError(f"{place}: {name} is missing, and has no default: add it")


@contextmanager
def named(place: str) -> Iterator[None]:
    """Errors from within begin with the place in the file."""
    try:
        yield
    except SuiteError as error:
        raise SuiteError(f"{place}: {error}") from error


def main(arguments: list[str] | None = None) -> int:
    parser = make_parser("check", __doc__, "--scale", "--envs")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        check_scale(config.load(options.envs), options.scale)
        return {}

    return write_result(parser.prog, make)
