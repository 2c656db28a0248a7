"""deviations.yaml: every departure from the paper or the authors' release, and what it touches."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from powr import POWR
from suite import SuiteError, config
from suite.claims.typed import Id, UniqueTexts, check_unique
from suite.config.models import Block, Text

NOT_SETTINGS = {"self", "env", "seed"}
MISSING = object()


class StatedAlgorithm(Block):
    policy: str | None = None
    settings: dict[str, Any]
    environments: dict[str, dict[str, Any]] | None = None


class Stated(Block):
    """What the paper, the release or a library states, in the form of envs.yaml."""

    environments: dict[str, dict[str, Any]]
    algorithms: dict[str, StatedAlgorithm]
    scales: dict[str, dict[str, Any]]


class Deviation(Block):
    id: Id
    what: Text  # what is stated, and what is done
    why: Text
    effect: Text  # as measured or expected
    touches: UniqueTexts  # ids of the claims that it may bear on
    settings: UniqueTexts  # of envs.yaml, as name.key


class Ledger(Block):
    stated: Stated
    deviations: list[Deviation]


def load(path: str | Path, claims: Mapping[str, Any]) -> dict[str, Any]:
    """Read and check the deviations; each touches claims that claims.yaml has."""
    document = config.read_yaml(path)
    config.check_model(document, Ledger, path)
    entries = document["deviations"]
    check_unique((entry["id"] for entry in entries), path)
    known = {claim["id"] for claim in claims["claims"]}
    for entry in entries:
        for name in set(entry["touches"]) - known:
            raise SuiteError(
                f"{path}: {entry['id']}: touches: {name} is not the id of a claim in claims.yaml"
            )
    return document


def undeclared(study: Mapping[str, Any], document: Mapping[str, Any]) -> list[str]:
    """Settings of the study that differ from what is stated and that no deviation names."""
    declared = {name for entry in document["deviations"] for name in entry["settings"]}
    return sorted(set(departures(study, document["stated"])) - declared)


def departures(study: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """Names of the settings that are not as stated, such as powr.step_size."""
    for name, expected in stated["environments"].items():
        for key, value in expected.items():
            if study["environments"][name][key] != value:
                yield f"{name}.{key}"
    for name, expected in stated["algorithms"].items():
        actual = study["algorithms"][name]
        if actual.get("policy") != expected.get("policy"):
            yield f"{name}.policy"
        for environment in stated["environments"]:
            due = config.settings_on(expected, environment)
            found = _defaults(actual["class"]) | config.settings_on(actual, environment)
            for key in {*due, *found}:
                if found.get(key, MISSING) != due.get(key, MISSING):
                    yield f"{name}.{key}"
    for name, expected in stated["scales"].items():
        actual = study["scales"][name]
        if actual["seeds"] != expected["seeds"]:
            yield f"{name}.seeds"
        for environment, timesteps in expected["timesteps"].items():
            if actual["timesteps"].get(environment) != timesteps:
                yield f"{name}.timesteps"


def _defaults(algorithm_class: str) -> dict[str, Any]:
    """Settings that POWR has without being told; a library's own defaults are not departures."""
    if algorithm_class != "powr":
        return {}
    parameters = inspect.signature(POWR.__init__).parameters
    return {name: p.default for name, p in parameters.items() if name not in NOT_SETTINGS}
