"""claims.yaml: what the paper says, the rule that judges each sentence, and its options."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_type_hints

import pydantic
from pydantic import Field

from suite import config
from suite.claims.rules import RULES
from suite.claims.theorems import RULES as THEOREM_RULES
from suite.claims.theorems import parameters_of
from suite.config.models import Block, Id, Text

Starts = Literal["random", "fixed"]
TestId = Annotated[str, pydantic.StringConstraints(pattern=r"^tests/.+\.py::.+$")]


class Protocol(Block):
    """Where episodes start."""

    label: Text
    powr: Starts
    baselines: Starts


class Settings(Block):
    """Whose settings the baselines have: the study's algorithm by the paper's name."""

    label: Text
    baselines: dict[str, Text]


class Sentence(Block):
    """A sentence of the paper about its experiments: a cell per environment, with its threshold."""

    short: Text
    place: Text
    quote: Text
    note: Text | None = None
    rule: Literal[tuple(RULES)]  # type: ignore[valid-type]
    parameters: dict[str, Any] = Field(default={})
    cells: Annotated[dict[str, int | float], Field(min_length=1)]
    sensitivities: dict[str, dict[str, Any]] = Field(default={})

    @pydantic.model_validator(mode="after")
    def _options_are_the_rule_s(self) -> Self:
        known = options_of(self.rule)
        for options in ({}, *self.sensitivities.values()):
            # The policy is not an option of a rule, but of every question.
            asked = {key: each for key, each in options.items() if key != "policy"}
            try:
                known.model_validate({**self.parameters, **asked})
            except pydantic.ValidationError as error:
                fault = error.errors(include_url=False)[0]
                raise ValueError(
                    f"{self.rule}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
                ) from None
        return self


class Untested(Block):
    """A sentence of the paper that no run here decides, and why."""

    place: Text
    quote: Text
    why: Text


class Theorem(Block):
    """A statement of the paper's theory."""

    id: Id
    claim: Text
    place: Text
    quote: Text | None = None
    note: Text | None = None
    rule: Literal[tuple(THEOREM_RULES)]  # type: ignore[valid-type]
    parameters: dict[str, Any]
    tests: list[TestId] = Field(default=[])


class Document(Block):
    level: Annotated[float, Field(gt=0, lt=1)]
    greedy: list[Text]  # algorithms whose sampled policy is only their exploration
    protocols: dict[str, Protocol]
    fixed: dict[str, Text]  # the environments that stand for another, with fixed starts
    sets: dict[str, Settings]
    sentences: dict[Id, Sentence]
    untested: list[Untested]
    theory: list[Theorem]

    def started(self, environment: str, starts: Starts) -> str:
        """The study's name of an environment with these starts."""
        return self.fixed.get(environment, environment) if starts == "fixed" else environment


def options_of(rule: str) -> type[pydantic.BaseModel]:
    """The options of a rule, as a model: its keyword arguments."""
    function = RULES[rule]
    hints = get_type_hints(function, include_extras=True)
    fields: Any = {
        name: (hints[name], ... if each.default is each.empty else each.default)
        for name, each in inspect.signature(function).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    }
    return pydantic.create_model(rule, __config__=pydantic.ConfigDict(extra="forbid"), **fields)


def load(path: str | Path) -> Document:
    document = config.check_model(config.read_yaml(path), Document, path)
    config.check_unique((each.id for each in document.theory), path)
    for theorem in document.theory:
        parameters_of(theorem.rule, theorem.parameters, path, theorem.id)
    return document
