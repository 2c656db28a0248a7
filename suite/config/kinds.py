"""The kinds of algorithm that a study compares, and whose settings they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import baselines
import powr
from powr.agent import Agent

LIBRARY, AUTHORS = "library defaults", "authors' probable settings"
POWR, EXTENSION, TEXTBOOK = "the paper's POWR", "beyond the paper", "textbook"
DEEP = "deep, other settings"
DEEP_OF_SOURCE = {LIBRARY: "deep, library defaults", AUTHORS: "deep, authors' settings"}
# In the order in which figures and tables show them.
KINDS = (POWR, EXTENSION, TEXTBOOK, *DEEP_OF_SOURCE.values(), DEEP)


def kind_of(algorithm: Mapping[str, Any]) -> str:
    """The kind of an algorithm block of envs.yaml: by its class and its source.

    The paper's algorithm with settings that were chosen here is beyond the paper.
    """
    found, source = baselines.find(algorithm["class"]), algorithm["source"]["kind"]
    if issubclass(found, Agent):
        return POWR if found is powr.POWR and source == AUTHORS else EXTENSION
    if baselines.family(algorithm["class"]) == "classic":
        return TEXTBOOK
    return DEEP_OF_SOURCE.get(source, DEEP)
