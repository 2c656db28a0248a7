"""What can be known before anything runs: that the study fits the algorithms and environments.

    python -m suite check --scale quick

The workflow does this before its first job.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import baselines
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config import Combination, Study
from suite.training import algorithms, environments

SEEDS = {"agent": 0, "training": 0}  # of agents that are made and never trained


def check_settings(study: Study, names: Iterable[str]) -> None:
    """Refuse settings of these algorithms that are not in the signature of their class."""
    for name in names:
        block, place = study.algorithms[name], f"{study.path}: algorithms.{name}"
        with named(place):
            known = baselines.settings_of(algorithms.find(block.class_))
        config.check_known(["policy"] if block.policy else [], known, place)
        config.check_known(block.settings, known, f"{place}.settings")
        for environment, settings in block.environments.items():
            config.check_known(settings, known, f"{place}.environments.{environment}")
        for ablation, plan in study.ablations.items():
            for environment in plan.timesteps if name in plan.algorithms else ():
                place = f"{study.path}: ablations.{ablation}"
                config.check_known(plan.choices_on(environment), known, place)


def check_missing(settings: dict[str, Any], place: str) -> None:
    """Refuse an algorithm without a setting for which its class has no default."""
    algorithm = settings["algorithm"]
    for name, parameter in baselines.settings_of(algorithms.find(algorithm["class"])).items():
        given = name in algorithm["settings"] or name in algorithm
        if parameter.default is parameter.empty and not given:
            raise SuiteError(f"{place}: {name} is missing, and has no default: add it")


def check_combination(study: Study, combination: Combination) -> None:
    """Refuse what would keep a run of this combination from its training."""
    check_settings(study, [combination.algorithm])
    check_missing(combination.settings, f"{study.path}: algorithms.{combination.algorithm}")
    environments.check_fingerprint(combination.settings["environment"])


def check_scale(study: Study, scale: str) -> None:
    """Make every environment and every agent of the scale once, and train none."""
    combinations = study.combinations(scale)
    check_settings(study, dict.fromkeys(each.algorithm for each in combinations))
    for name in dict.fromkeys(each.environment for each in combinations):
        place = f"{study.path}: environments.{name}"
        with named(place):
            fingerprint = environments.check_fingerprint(study.environments[name].resolve())
        if not study.environments[name].fingerprint:
            advice = f"add `fingerprint: {fingerprint}` to refuse one that behaves differently"
            print(f"{place}: {advice}", file=sys.stderr)
    for each in combinations:
        place = f"{study.path}: algorithms.{each.algorithm} on {each.environment}"
        check_missing(each.settings, place)
        with named(place):
            algorithms.build(each.settings, SEEDS, run_seed=0)


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
