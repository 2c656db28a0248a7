"""What can be known before anything runs: that envs.yaml fits the algorithms and environments.

    python -m suite check --scale quick

The workflow does this before its first job.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optimistic_powr import OptimisticPOWR

import baselines
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.training import algorithms, environments

SEEDS = {"agent": 0, "training": 0}  # of agents that are made and never trained


def check_settings(study: dict[str, Any], path: str | Path, names: Iterable[str]) -> None:
    """Refuse settings of these algorithms that are not in the signature of their class."""
    blocks = []
    for name in names:
        block, place = study["algorithms"][name], f"{path}: algorithms.{name}"
        known = baselines.settings_of(baselines.find(block["class"]))
        config.check_known({"policy"} & block.keys(), known, place)
        blocks.append((block, known, place))
    for name, ablation in study.get("ablations", {}).items():
        known = baselines.settings_of(OptimisticPOWR)
        blocks.append((ablation, known, f"{path}: ablations.{name}"))
    for block, known, place in blocks:
        config.check_known(block.get("settings", {}), known, f"{place}.settings")
        for environment, settings in block.get("environments", {}).items():
            config.check_known(settings, known, f"{place}.environments.{environment}")


def check_missing(resolved: dict[str, Any], place: str) -> None:
    """Refuse an algorithm without a setting for which its class has no default."""
    algorithm = resolved["algorithm"]
    for name, parameter in baselines.settings_of(baselines.find(algorithm["class"])).items():
        given = name in algorithm["settings"] or name in algorithm
        if parameter.default is parameter.empty and not given:
            raise SuiteError(f"{place}: {name} is missing, and has no default: add it")


def check_scale(study: dict[str, Any], path: str | Path, scale: str) -> None:
    """Make every environment and every agent of the scale once, and train none."""
    check_settings(study, path, study["algorithms"])
    first = [run for run in config.runs(study, scale) if run.seed == 0]
    for name in dict.fromkeys(run.environment for run in first):
        place = f"{path}: environments.{name}"
        with named(place):
            found = environments.check_fingerprint(study["environments"][name])
        if "fingerprint" not in study["environments"][name]:
            message = (
                f"add `fingerprint: {found}` to refuse an environment that behaves differently"
            )
            print(f"{place}: {message}", file=sys.stderr)
    for run in first:
        resolved = config.resolve(study, scale, run.environment, run.algorithm)
        place = f"{path}: algorithms.{run.algorithm} on {run.environment}"
        check_missing(resolved, place)
        with named(place):
            algorithms.build(resolved, SEEDS, run.seed)


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
        study = config.load(options.envs)
        check_scale(study, options.envs, options.scale)
        return {}

    return write_result(parser.prog, make)
