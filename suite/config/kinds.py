"""The kinds of algorithm that a study compares, and whose settings they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import baselines

LIBRARY, AUTHORS = "library defaults", "authors' probable settings"
POWR, EXTENSION, TEXTBOOK = "the paper's POWR", "beyond the paper", "textbook"
DEEP = "deep"
DEEP_OF_SOURCE = {LIBRARY: "deep, library defaults", AUTHORS: "deep, authors' settings"}
# In the order in which figures and tables show them.
KINDS = (POWR, EXTENSION, TEXTBOOK, *DEEP_OF_SOURCE.values(), DEEP)


def kind_of(algorithm: Mapping[str, Any]) -> str:
    """The kind of an algorithm block of envs.yaml: by its class and its source.

    The paper's algorithm with settings that were chosen here is beyond the paper.
    """
    family, source = baselines.family(algorithm["class"]), algorithm["source"]["kind"]
    if family in ("powr", "planners"):
        return POWR if algorithm["class"] == "powr" and source == AUTHORS else EXTENSION
    return TEXTBOOK if family == "classic" else DEEP_OF_SOURCE.get(source, DEEP)
