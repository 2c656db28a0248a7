"""claims.yaml: the paper's sentences and the rules that judge them; and deviations.yaml.

deviations.yaml has every deviation from the paper or its authors' code, and what it touches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import pydantic
from pydantic import Field

from suite import config
from suite.claims.rules import RULES
from suite.config.models import Block, Id, Text, UniqueTexts
from suite.theory.rules import RULES as THEOREM_RULES
from suite.theory.rules import Outcome

Starts = Literal["random", "fixed"]
TestId = Annotated[str, pydantic.StringConstraints(pattern=r"^tests/.+\.py::.+$")]


class Case(NamedTuple):
    """A protocol with a set of settings of the baselines."""

    protocol: str
    settings: str


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

    def judge(self) -> Outcome:
        rule = THEOREM_RULES[self.rule]
        return rule(**dict(options_of(rule).model_validate(self.parameters)))


class Document(Block):
    level: Annotated[float, Field(gt=0, lt=1)]
    greedy: list[Text]  # algorithms whose sampled policy is only their exploration
    protocols: dict[str, Protocol]
    fixed: dict[str, Text]  # the environments that stand for another, with fixed starts
    sets: dict[str, Settings]
    sentences: dict[Id, Sentence]
    untested: list[Untested]
    theory: list[Theorem]

    @property
    def cases(self) -> list[Case]:
        return [Case(protocol, name) for protocol in self.protocols for name in self.sets]

    def title(self, case: Case) -> str:
        return f"{self.protocols[case.protocol].label}; {self.sets[case.settings].label}"

    def started(self, environment: str, starts: Starts) -> str:
        """The study's name of an environment with these starts."""
        return self.fixed.get(environment, environment) if starts == "fixed" else environment


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


def options_of(rule: Callable[..., Any]) -> type[pydantic.BaseModel]:
    """The options of a rule as a model: its arguments, but for the question that it is asked."""
    hints = get_type_hints(rule, include_extras=True)
    fields: Any = {
        name: (hints[name], ... if each.default is each.empty else each.default)
        for name, each in inspect.signature(rule).parameters.items()
        if name != "question"
    }
    return pydantic.create_model(rule.__name__, __base__=Block, **fields)


def load(path: str | Path) -> Document:
    """Read and check claims.yaml."""
    document = config.check_model(config.read_yaml(path), Document, path)
    config.check_unique((each.id for each in document.theory), path)

    def check(rule: Callable[..., Any], options: Mapping[str, Any], *place: str) -> None:
        config.check_model(dict(options), options_of(rule), path, *place)

    for name, sentence in document.sentences.items():
        rule = RULES[sentence.rule]
        check(rule, sentence.parameters, "sentences", name, "parameters")
        for choice, options in sentence.sensitivities.items():
            # The policy is not an option of a rule, but of every question.
            changed = {key: value for key, value in options.items() if key != "policy"}
            place = ("sentences", name, "sensitivities", choice)
            check(rule, sentence.parameters | changed, *place)
    for each in document.theory:
        check(THEOREM_RULES[each.rule], each.parameters, "theory", each.id, "parameters")
    return document


def load_deviations(path: str | Path, document: Document) -> Deviations:
    """Read and check deviations.yaml."""
    declared = config.check_model(config.read_yaml(path), Deviations, path)
    config.check_unique((each.id for each in declared.deviations), path)
    known = [*document.sentences, *(theorem.id for theorem in document.theory)]
    for each in declared.deviations:
        config.check_known(each.touches, known, f"{path}: {each.id}: touches")
    return declared
