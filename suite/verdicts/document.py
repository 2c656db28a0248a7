"""The form of claims.yaml: what the paper says, and the rule that judges it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from suite.config.models import Block, Id, Text
from suite.verdicts.rules import RULES

Starts = Literal["random", "fixed"]


class Protocol(Block):
    label: Text
    powr: Starts
    baselines: Starts


class Settings(Block):
    label: Text
    baselines: dict[str, Text]


class Sentence(Block):
    short: Text
    place: Text
    quote: Text
    rule: Literal[tuple(RULES)]  # type: ignore[valid-type]
    parameters: dict[str, Any] = Field(default={})
    cells: Annotated[dict[str, float | int], Field(min_length=1)]
    sensitivities: dict[str, dict[str, Any]] = Field(default={})


class Document(Block):
    level: Annotated[float, Field(gt=0, lt=1)]
    protocols: dict[str, Protocol]
    fixed: dict[str, str]
    sets: dict[str, Settings]
    sentences: dict[Id, Sentence]
