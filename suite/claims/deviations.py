"""deviations.yaml: every deviation from the paper or its authors' code, and what it touches."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from suite import config
from suite.claims.document import Document
from suite.config.models import Block, Id, Text, UniqueTexts


class Deviation(Block):
    id: Id
    of: Literal["the study", "POWR"]
    what: Text  # what is stated, and what is done
    why: Text
    effect: Text  # as measured or expected
    touches: UniqueTexts  # ids of the sentences and theorems that it may bear on
    settings: UniqueTexts  # of envs.yaml, as name.key


class Deviations(Block):
    # What the paper, its authors' code or a library states, in the form of envs.yaml.
    stated: dict[str, dict[str, dict[str, Any]]]
    deviations: list[Deviation]


def load(path: str | Path, document: Document) -> Deviations:
    """Read and check the deviations."""
    found = config.check_model(config.read_yaml(path), Deviations, path)
    config.check_unique((each.id for each in found.deviations), path)
    known = [*document.sentences, *(theorem.id for theorem in document.theory)]
    for each in found.deviations:
        config.check_known(each.touches, known, f"{path}: {each.id}: touches")
    return found
