"""deviations.yaml: every departure from the paper or its authors' code, and what it touches."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from suite import SuiteError, config
from suite.config.models import Block, Id, Text, UniqueTexts


class Deviation(Block):
    id: Id
    of: Literal["the study", "POWR"]
    what: Text  # what is stated, and what is done
    why: Text
    effect: Text  # as measured or expected
    touches: UniqueTexts  # ids of the claims that it may bear on; * stands for any text
    settings: UniqueTexts  # of envs.yaml, as name.key


class Ledger(Block):
    # What the paper, its authors' code or a library states, in the form of envs.yaml.
    stated: dict[str, dict[str, dict[str, Any]]]
    deviations: list[Deviation]


def load(path: str | Path, claims: Mapping[str, Any]) -> dict[str, Any]:
    """Read and check the deviations, each with the ids of all claims that it touches."""
    document = config.read_yaml(path)
    config.check_model(document, Ledger, path)
    entries = document["deviations"]
    config.check_unique((entry["id"] for entry in entries), path)
    ids = [claim["id"] for claim in claims["claims"]]
    for entry in entries:
        touched = {pattern: fnmatch.filter(ids, pattern) for pattern in entry["touches"]}
        for pattern, found in touched.items():
            if not found:
                raise SuiteError(
                    f"{path}: {entry['id']}: touches: {pattern} is not the id of a claim in "
                    "claims.yaml"
                )
        entry["touches"] = [name for name in ids if any(name in each for each in touched.values())]
    return document
