"""claims.md: an index of the verdicts; the evidence is in the tables beside it and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from suite import markdown
from suite.claims.deviations import Deviations
from suite.claims.document import Document, Theorem
from suite.claims.judge import Case, Judged, cases, verdict_of
from suite.claims.theorems import Outcome
from suite.claims.words import mark

ABOUT = """A cell is a sentence on one environment. It holds, fails or is undecided, by the [rule of
its sentence](../../docs/replication.md#rules). A sentence holds if all its cells do, and fails if
none does. Evidence: [every comparison](comparisons.csv) with its effect, interval and exact
p-values, [every cell](cells.csv), [what other choices change](sensitivity.csv), and the
[report](report.html)."""


def render(
    document: Document,
    judged: Sequence[Judged],
    sensitivity: pd.DataFrame,
    theory: Mapping[str, Outcome],
    deviations: Deviations,
    scale: str,
    missing: int,
) -> str:
    parts = [f"# Verdicts at the scale {scale}", ABOUT]
    if missing:
        parts.append(f"**Preliminary: {missing} runs are missing.**")
    parts += ["## Sentences", markdown.table(list(sentence_rows(document, judged)))]
    first, *_ = cases(document)
    for case in cases(document):
        # FrozenLake-v1 has one start state, so that its cells are the same under each protocol.
        own = [
            each
            for each in judged
            if each.case == case
            and (each.cell.effect or not each.cell.reason.startswith("no run"))
            and (case.protocol == first.protocol or each.environment in document.fixed)
        ]
        if any(each.cell.effect for each in own):
            parts += [f"## {title(document, case)}", markdown.table(list(cell_rows(own)))]
    parts += ["## Choices that change a cell", markdown.table(list(changes(document, sensitivity)))]
    parts += ["## Theory", markdown.table(list(theory_rows(document.theory, theory)))]
    parts += ["## Sentences without a test", markdown.table(list(untested_rows(document)))]
    parts += [
        "## Deviations",
        f"{len(deviations.deviations)}, each with its reason: deviations.yaml.",
    ]
    return "\n\n".join(parts) + "\n"


def title(document: Document, case: Case) -> str:
    return f"{document.protocols[case.protocol].label}; {document.sets[case.settings].label}"


def sentence_rows(document: Document, judged: Sequence[Judged]) -> Iterator[list[str]]:
    shown = cases(document)
    yield ["The paper says that POWR ...", *(title(document, case) for case in shown)]
    for name, sentence in document.sentences.items():
        own = [
            [each for each in judged if (each.sentence, each.case) == (name, case)]
            for case in shown
        ]
        yield [f'<a id="{name}"></a>{sentence.short}', *(mark(verdict_of(cells)) for cells in own)]


def cell_rows(judged: Sequence[Judged]) -> Iterator[list[str]]:
    yield ["sentence", "environment", "verdict", "effect"]
    for each in judged:
        effect = "; ".join(filter(None, [each.cell.effect, each.cell.reason]))
        yield [each.sentence, f"{each.environment}, {each.threshold:g}", each.cell.verdict, effect]


def changes(document: Document, sensitivity: pd.DataFrame) -> Iterator[list[str]]:
    """Cells with another verdict under another choice, those of one sentence in one row."""
    yield ["sentence", "choice", "cells that it changes"]
    changed = sensitivity[sensitivity["verdict"] != sensitivity["as_judged"]]
    for (sentence, choice), rows in changed.groupby(["sentence", "choice"], sort=False):
        listed = [
            f"{row.environment} ({row.protocol}, {row.settings}): {row.as_judged} to {row.verdict}"
            for row in rows.itertuples()
            if row.protocol != "published"
        ]
        if listed:
            yield [str(sentence), str(choice), "; ".join(listed)]


def theory_rows(theorems: Sequence[Theorem], found: Mapping[str, Outcome]) -> Iterator[list[str]]:
    yield ["statement", "place", "verdict"]
    for theorem in theorems:
        yield [theorem.claim, theorem.place, found[theorem.id].verdict]


def untested_rows(document: Document) -> Iterator[list[str]]:
    yield ["the paper says", "why it has no test"]
    for each in document.untested:
        yield [f'"{each.quote}" ({each.place})', each.why]
