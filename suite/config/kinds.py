"""The kinds of algorithm that a study compares, and whose settings they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import baselines

LIBRARY, AUTHORS = "library defaults", "authors' probable settings"
POWR, TEXTBOOK = "POWR", "textbook"
DEEP = "deep"
DEEP_OF_SOURCE = {LIBRARY: "deep, library defaults", AUTHORS: "deep, authors' settings"}
# In the order in which figures and tables show them.
KINDS = (POWR, TEXTBOOK, *DEEP_OF_SOURCE.values(), DEEP)


def kind_of(algorithm: Mapping[str, Any]) -> str:
    """The kind of an algorithm block of envs.yaml: by its class and, if deep, by its source."""
    name = algorithm["class"]
    family = "planners" if name == "powr" else baselines.family(name)
    if family == "planners":
        return POWR
    if family == "classic":
        return TEXTBOOK
    return DEEP_OF_SOURCE.get(algorithm["source"]["kind"], DEEP)
