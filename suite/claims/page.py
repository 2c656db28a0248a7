"""claims.md: the verdicts first, then for each claim what it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2

from suite.claims.rules import THEORY_RULES
from suite.claims.verdicts import (
    BEYOND,
    HOLDS,
    NOT_TESTED,
    PARTLY,
    THEORY_VERDICTS,
    VERDICTS,
    Finding,
)
from suite.markdown import table

if TYPE_CHECKING:
    from suite.claims.ledger import Judged

THEORY = {rule.__name__ for rule in THEORY_RULES}
WORDS = {PARTLY: "partly reproduced"}  # where it stands alone


class Group(StrEnum):
    """What a claim is about; `DESCRIBED` is what the paper says of its experiments' making."""

    EXPERIMENTS = "Experiments"
    DESCRIBED = "How the paper describes its experiments"
    THEORY = "Theory"
    BEYOND = "Beyond the paper"


class Sentence(NamedTuple):
    """A sentence of the paper with the verdicts on its parts, by set of settings."""

    short: str  # the sentence in short; of theory, the claim
    quote: str
    place: str
    group: Group
    parts: dict[str, list[Judged]]

    @property
    def claims(self) -> list[str]:
        """The ids of its parts."""
        return list(dict.fromkeys(e.claim["id"] for each in self.parts.values() for e in each))


def group_of(claim: Mapping[str, Any]) -> Group:
    if claim["rule"] in THEORY:
        return Group.THEORY
    if not claim.get("quote"):
        return Group.BEYOND
    return Group.EXPERIMENTS if claim.get("against") else Group.DESCRIBED


def sentences(judged: Iterable[Judged], document: Mapping[str, Any]) -> list[Sentence]:
    """The sentences that have a verdict, in order; a claim that quotes none is one by itself."""
    found: dict[str, Sentence] = {}
    for entry in judged:
        claim = entry.claim
        quote = claim.get("quote") or ""
        said = document.get("sentences", {}).get(claim.get("sentence"), {})
        short = said.get("short", claim["claim"])
        sentence = Sentence(short, quote, claim["place"], group_of(claim), {})
        sentence = found.setdefault(quote or claim["id"], sentence)
        sentence.parts.setdefault(entry.against, []).append(entry)
    return list(found.values())


def joint_verdict(entries: Sequence[Judged]) -> str:
    """Of a sentence with these parts: that of all parts that were tested, or partly."""
    tested = {entry.outcome.verdict for entry in entries} - {NOT_TESTED}
    return PARTLY if len(tested) > 1 else (tested or {NOT_TESTED}).pop()


def joint_text(entries: Sequence[Judged]) -> str:
    """The same in words that say for how many parts each verdict holds."""
    counts = Counter(entry.outcome.verdict for entry in entries)
    order = (*VERDICTS, *BEYOND.values(), *THEORY_VERDICTS)
    found = {WORDS.get(verdict, verdict): counts[verdict] for verdict in order if counts[verdict]}
    if len(entries) == 1:
        return next(iter(found))
    if len(found) == 1:
        scope = "both" if len(entries) == 2 else f"all {len(entries)}"
        return f"{next(iter(found))} ({scope} parts)"
    return ", ".join(f"{verdict} ({count} of {len(entries)})" for verdict, count in found.items())


def render(
    judged: Sequence[Judged],
    document: Mapping[str, Any],
    scale: str,
    departures: Sequence[Mapping[str, Any]],
) -> str:
    """The verdicts of a scale as Markdown."""
    said, claims = sentences(judged, document), by_claim(judged)
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (Markdown, not HTML)
    )
    return templates.get_template("page.md.j2").render(
        scale=scale,
        document=document,
        departures=departures,
        claims=claims,
        n_quoted=sum(sentence.quote != "" for sentence in said),
        n_beyond=sum(group_of(entries[0].claim) == Group.BEYOND for entries in claims),
        kinds=count_by_kind(judged, document["sets"]),
        overview={
            group: overview(rows, document["sets"])
            for group in Group
            if (rows := [sentence for sentence in said if sentence.group == group])
        },
        first_parts={sentence.claims[0] for sentence in said},
        condition=condition,
        findings_text=findings_text,
        table=table,
        by_folder=lambda runs: groupby(runs, lambda run: run.path.parent),
    )


def overview(rows: Sequence[Sentence], sets: Mapping[str, Any]) -> list[str]:
    """The verdicts on one group's sentences as tables: those by set of settings, and the others."""
    first = ("claim", "about") if rows[0].group == Group.BEYOND else ("sentence", "in the paper")
    tables = []
    for names in (list(sets), [""]):
        heads = [f"against {sets[name]['label']}" if name else "verdict" for name in names]
        lines = [
            (f"[{row.short}](#{row.claims[0]})", row.place, *verdicts)
            for row in rows
            if any(verdicts := [verdict_text(row.parts.get(name, [])) for name in names])
        ]
        if lines:
            tables.append(table([(*first, *heads), *lines]))
    return tables


def verdict_text(entries: Sequence[Judged]) -> str:
    """The joint verdict of a sentence's parts; empty without any."""
    preliminary = " (preliminary)" if any(entry.preliminary for entry in entries) else ""
    return f"**{joint_text(entries)}**{preliminary}" if entries else ""


def by_claim(judged: Iterable[Judged]) -> list[list[Judged]]:
    """The verdicts of each claim, one per set of settings."""
    return [list(entries) for _, entries in groupby(judged, lambda entry: entry.claim["id"])]


def count_by_kind(judged: Sequence[Judged], sets: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """How many sentences of the paper have each verdict, by what they are of.

    Those on the results of experiments are counted once per set of settings.
    """
    kinds: dict[str, dict[str, int]] = {}
    said = sentences(judged, {})
    for group in (Group.EXPERIMENTS, Group.DESCRIBED, Group.THEORY):
        for name in sets if group == Group.EXPERIMENTS else [""]:
            own = [s.parts[name] for s in said if s.group == group and name in s.parts]
            found = Counter(map(joint_verdict, own))
            kind = f"{group}, {sets[name]['name']}" if name else str(group)
            if any(entry.preliminary for entries in own for entry in entries):
                kind += " (preliminary)"
            if own:
                words = THEORY_VERDICTS if group == Group.THEORY else VERDICTS
                kinds[kind] = {verdict: found[verdict] for verdict in words}
    return kinds


def condition(entries: Sequence[Judged], sets: Mapping[str, Any]) -> str:
    """One sentence on what a claim depends on; empty where it has a single verdict."""
    if len(entries) < 2:
        return ""
    tested = [entry for entry in entries if entry.outcome.verdict != NOT_TESTED]
    holds = [e for e in tested if e.outcome.verdict in HOLDS]
    if not tested:
        return "Not tested under any of these settings."
    is_open = len(tested) < len(entries) or any(entry.preliminary for entry in entries)
    so_far = ", so far" if is_open else ""
    if not holds:
        return f"Holds fully under none of these settings{so_far}."
    if len(holds) == len(tested):
        return f"Holds under all settings tested{so_far}."
    names = "; ".join(sets[entry.against]["name"] for entry in holds)
    return f"Holds fully only under these settings{so_far}: {names}."


def findings_text(findings: Sequence[Finding]) -> list[list[str]]:
    """The findings as a table to read, its head first; columns that nobody fills are left out."""
    answers = {True: "yes", False: "no", None: "neither"}
    rows = [
        {
            "finding": each.subject,
            "statistic": each.statistic,
            "estimate": ("more than " if each.is_bound else "") + number(each.estimate),
            "95% interval": ""
            if math.isnan(each.interval.low)
            else f"[{', '.join(map(number, each.interval))}]",
            "p": number(each.p_value),
            "p, Holm": number(each.p_holm),
            "smallest ratio to be seen": number(each.smallest_visible),
            "speaks for the claim": answers[each.supports],
        }
        for each in findings
    ]
    always = ("finding", "statistic", "estimate")
    filled = [name for name in rows[0] if name in always or any(row[name] for row in rows)]
    return [filled, *([row[name] for name in filled] for row in rows)]


def number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3g}".replace("inf", "∞")
