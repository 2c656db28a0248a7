"""The study of a comparison: one environment, and the algorithms of envs.yaml that fit it."""

from __future__ import annotations

import argparse
import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium

import baselines
from powr import POWR
from powr.agent import Agent
from suite import SuiteError, config
from suite.config.kinds import AUTHORS
from suite.results.aggregate import first_update
from suite.training import algorithms, environments, preflight

SCALE = "compare"
# Fewer evaluations than in the replication: they would take longer than the training.
EVALUATION = {"episodes": 10, "first": 100, "per_decade": 8}
# Baselines with the settings of the paper's authors are left out unless they are asked for.
SOURCES = ("library defaults", "chosen on development seeds")


class Choice(NamedTuple):
    """The algorithms of a comparison, those that do not fit with the reason, and remarks."""

    chosen: list[str]
    left_out: dict[str, str]
    borrowed: dict[str, str]  # whose settings were chosen on another environment, which one
    untrained: dict[str, int]  # too few timesteps for a first update, and when that is


def make_study(
    shipped: Mapping[str, Any], options: argparse.Namespace
) -> tuple[dict[str, Any], Choice]:
    """A study of one environment, with the algorithms of another study that fit it."""
    name, environment = describe_environment(shipped, options)
    spec: Any = environments.make(environment).spec
    if options.threshold is not None:
        environment["thresholds"] = [options.threshold]
    elif "thresholds" not in environment:
        if spec.reward_threshold is None:
            raise SuiteError(
                f"{spec.id} is registered without a threshold: give --threshold, the return at "
                "which the task counts as learned"
            )
        environment["thresholds"] = [float(spec.reward_threshold)]
    scale: dict[str, Any] = {
        "seeds": options.seeds,
        "algorithms": list(shipped["algorithms"]),
        "timesteps": {name: options.timesteps},
    }
    study: dict[str, Any] = {
        "environments": {name: environment},
        "algorithms": copy.deepcopy(dict(shipped["algorithms"])),
        "evaluation": {**EVALUATION, "first": min(EVALUATION["first"], options.timesteps)},
        "scales": {SCALE: scale},
    }
    choice = choose_algorithms(study, name, options.algorithms)
    scale["algorithms"] = choice.chosen
    study["algorithms"] = {key: study["algorithms"][key] for key in choice.chosen}
    for block in study["algorithms"].values():
        own = block.get("environments", {})
        block["environments"] = {name: own[name]} if name in own else {}
    return study, choice


def describe_environment(
    shipped: Mapping[str, Any], options: argparse.Namespace
) -> tuple[str, dict[str, Any]]:
    """Name and block of the environment: those of the shipped study where it has the same one."""
    kwargs, known = dict(options.env_kwargs), shipped["environments"]
    for name, block in known.items():
        if block["kwargs"] == kwargs and block["id"] == options.env:
            return name, dict(block)
    if options.env in known and options.env not in gymnasium.registry:
        return options.env, dict(known[options.env])
    name = options.env
    if kwargs or name in known:
        settings = "-".join(f"{key}-{json.dumps(value)}" for key, value in kwargs.items())
        name = f"{name}-{settings or 'as-registered'}"
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")
    return name or "environment", {"id": options.env, "kwargs": kwargs}


def choose_algorithms(
    study: dict[str, Any], environment: str, asked: Sequence[str] | None
) -> Choice:
    """The algorithms that can be made on the environment; one that was asked for must fit."""
    known = study["algorithms"]
    for name in asked or ():
        if name not in known:
            raise SuiteError(f"--algorithms {name}: is not one of {', '.join(known)}")
    names = asked or [key for key, block in known.items() if is_compared(block)]
    choice = Choice([], {}, {}, {})
    for name in dict.fromkeys(names):
        borrowed = borrow_settings(study, environment, name)
        resolved = config.resolve(study, SCALE, environment, name)
        try:
            preflight.check_missing(resolved, name)
            algorithms.build(resolved, preflight.SEEDS)
        except SuiteError as error:
            # Without the list of settings: what the environment lacks is the cause.
            reason = str(error.__cause__ or error)
            if asked:
                raise SuiteError(f"--algorithms {name}: {reason}") from error
            choice.left_out[name] = reason
            continue
        choice.chosen.append(name)
        if borrowed:
            choice.borrowed[name] = borrowed
        if (update := first_update(resolved["algorithm"])) >= resolved["timesteps"]:
            choice.untrained[name] = update
    if not choice.chosen:
        raise SuiteError(f"no algorithm fits {environment}: {'; '.join(choice.left_out.values())}")
    return choice


def is_compared(algorithm: Mapping[str, Any]) -> bool:
    """Whether an algorithm is compared by default: both POWRs, but no ablation or other variant."""
    found, source = baselines.find(algorithm["class"]), algorithm["source"]["kind"]
    if issubclass(found, Agent):
        return baselines.is_of_library(found) and (source == AUTHORS or found is not POWR)
    return source in SOURCES


def borrow_settings(study: dict[str, Any], environment: str, name: str) -> str | None:
    """Give an algorithm that lacks settings on an environment those of its first one."""
    own = study["algorithms"][name].get("environments", {})
    if environment in own or not own:
        return None
    try:
        preflight.check_missing(config.resolve(study, SCALE, environment, name), name)
    except SuiteError:
        lender = next(iter(own))
        own[environment] = own[lender]
        return lender
    return None
