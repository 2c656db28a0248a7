"""From evaluations to verdicts: each sentence on each environment, under each protocol.

A *case* is a protocol (where episodes start) with a set of settings of the baselines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from suite.claims.cells import FAILS, HOLDS, UNDECIDED, Cell, Question
from suite.claims.document import Document
from suite.claims.rules import RULES
from suite.claims.runs import Evaluations

POWR = "powr"


class Case(NamedTuple):
    """A protocol with a set of settings of the baselines."""

    protocol: str
    settings: str


class Judged(NamedTuple):
    """One cell: a sentence in one case, on one environment at one threshold."""

    sentence: str
    case: Case
    environment: str
    threshold: float
    cell: Cell


def cases(document: Document) -> list[Case]:
    return [Case(protocol, name) for protocol in document.protocols for name in document.sets]


def judge_all(document: Document, evaluations: Evaluations) -> list[Judged]:
    """Every cell of every sentence, in every case."""
    return [
        Judged(
            name,
            case,
            environment,
            threshold,
            judge(document, evaluations, name, case, environment),
        )
        for case in cases(document)
        for name, sentence in document.sentences.items()
        for environment, threshold in sentence.cells.items()
    ]


def judge(
    document: Document,
    evaluations: Evaluations,
    sentence: str,
    case: Case,
    environment: str,
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> Cell:
    """One cell, by the sentence's rule, or by the rule with some of its options changed."""
    text = document.sentences[sentence]
    options = {**text.parameters, **changes}
    policy = options.pop("policy", "sampled")
    question = question_of(document, evaluations, case, environment, text.cells[environment])
    question = question._replace(policy=policy, has_intervals=not changes)
    return RULES[text.rule](question, **options)


def question_of(
    document: Document, evaluations: Evaluations, case: Case, environment: str, threshold: float
) -> Question:
    protocol = document.protocols[case.protocol]
    baselines = document.sets[case.settings].baselines
    place = document.started(environment, protocol.baselines)
    return Question(
        evaluations,
        (document.started(environment, protocol.powr), POWR),
        {name: (place, algorithm) for name, algorithm in baselines.items()},
        threshold,
        document.level,
    )


def sensitivities(document: Document, evaluations: Evaluations) -> Iterator[tuple[Judged, str]]:
    """Every cell judged again with one choice of its rule changed, and the name of the change."""
    for case in cases(document):
        for name, sentence in document.sentences.items():
            for change, options in sentence.sensitivities.items():
                for environment, threshold in sentence.cells.items():
                    cell = judge(document, evaluations, name, case, environment, options)
                    yield Judged(name, case, environment, threshold, cell), change


def verdict_of(cells: Sequence[Judged]) -> str:
    """The verdict on a sentence in one case: from its cells."""
    verdicts = [each.cell.verdict for each in cells]
    if all(each == HOLDS for each in verdicts):
        return HOLDS
    if HOLDS in verdicts:
        return "holds on " + ", ".join(
            each.environment for each in cells if each.cell.verdict == HOLDS
        )
    return UNDECIDED if all(each == UNDECIDED for each in verdicts) else FAILS
