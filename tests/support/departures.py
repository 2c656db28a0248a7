"""Where the settings of a study are not as deviations.yaml says that they are stated."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from powr import POWR
from suite.claims.document import Deviations
from suite.config import Study

NOT_SETTINGS = {"self", "env", "seed", "observation_space", "action_space"}
MISSING = object()
OWN = {"powr": POWR}


def undeclared(study: Study, document: Deviations) -> list[str]:
    """Settings of the study that differ from what is stated and that no deviation names."""
    declared = {name for entry in document.deviations for name in entry.settings}
    return sorted(set(departures(study, document.stated)) - declared)


def departures(study: Study, stated: Mapping[str, Any]) -> Iterator[str]:
    """Names of the settings that are not as stated, such as powr.step_size."""
    for name, expected in stated["environments"].items():
        for key, value in expected.items():
            if getattr(study.environments[name], key) != value:
                yield f"{name}.{key}"
    for name, expected in stated["algorithms"].items():
        actual = study.algorithms[name]
        if actual.policy != expected.get("policy"):
            yield f"{name}.policy"
        for environment in stated["environments"]:
            due = expected["settings"] | expected.get("environments", {}).get(environment, {})
            found = _defaults(actual.class_) | actual.settings_on(environment)
            for key in {*due, *found}:
                if found.get(key, MISSING) != due.get(key, MISSING):
                    yield f"{name}.{key}"
    for name, expected in stated["scales"].items():
        actual = study.scales[name]
        if actual.seeds != expected["seeds"]:
            yield f"{name}.seeds"
        for environment, timesteps in expected["timesteps"].items():
            if actual.timesteps.get(environment) != timesteps:
                yield f"{name}.timesteps"


def _defaults(algorithm_class: str) -> dict[str, Any]:
    """Settings that our agents have without being told; those of a library are not departures."""
    if algorithm_class not in OWN:
        return {}
    parameters = inspect.signature(OWN[algorithm_class].__init__).parameters
    return {name: p.default for name, p in parameters.items() if name not in NOT_SETTINGS}
