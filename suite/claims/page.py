"""claims.md: the verdicts first, then for each claim what it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from suite.claims.rules import THEORY_RULES
from suite.claims.verdicts import (
    BEYOND,
    NOT_REPRODUCED,
    NOT_TESTED,
    PARTLY,
    REPRODUCED,
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
    """The sentences of the paper that have a verdict, in order; what quotes none is left out."""
    found: dict[str, Sentence] = {}
    for entry in judged:
        claim = entry.claim
        if not (quote := claim.get("quote")):
            continue
        said = document.get("sentences", {}).get(claim.get("sentence"), {})
        short = said.get("short", claim["claim"])
        sentence = found.setdefault(
            quote, Sentence(short, quote, claim["place"], group_of(claim), {})
        )
        sentence.parts.setdefault(entry.against, []).append(entry)
    return list(found.values())


def joint_verdict(entries: Sequence[Judged]) -> str:
    """Of a sentence with these parts: that of all parts that were tested, or partly."""
    tested = {entry.outcome.verdict for entry in entries} - {NOT_TESTED}
    return PARTLY if len(tested) > 1 else (tested or {NOT_TESTED}).pop()


def joint_text(entries: Sequence[Judged]) -> str:
    """The same in words that say how many parts it holds for."""
    counts = Counter(entry.outcome.verdict for entry in entries)
    untested = counts.pop(NOT_TESTED, 0)
    tested = len(entries) - untested
    if not tested:
        return NOT_TESTED
    if len(entries) == 1:
        (verdict,) = counts
        return WORDS.get(verdict, verdict)
    best = next(verdict for verdict in VERDICTS if counts[verdict])
    if counts[best] < tested:
        scope = f"{counts[best]} of {tested} parts"
    elif best == NOT_REPRODUCED:
        scope = "any part"
    else:
        scope = {1: "the one part", 2: "both parts"}.get(tested, f"all {tested} parts")
    text = f"{WORDS.get(best, best)} in {scope}" + (" tested" if untested else "")
    if best == REPRODUCED and counts[PARTLY]:
        text += f", partly in {counts[PARTLY]}"
    return text + (f", {untested} not tested" if untested else "")


def render(
    judged: Sequence[Judged],
    document: Mapping[str, Any],
    scale: str,
    departures: Sequence[Mapping[str, Any]],
) -> str:
    """The verdicts of a scale as Markdown."""
    parts = [f"# The paper's claims at the scale {scale}", *overview(judged, document)]
    parts.append("# Every claim")
    quoted: set[str] = set()
    for entries in by_claim(judged):
        quote = entries[0].claim.get("quote")
        parts += claim_section(entries, document["sets"], departures, quote not in quoted)
        quoted |= {quote} if quote else set()
    parts.append("# Rules")
    parts += [
        f'<a id="rule-{name}"></a>**{name}.** {rule["statistic"]} {rule["decision"]}'
        for name, rule in document["rules"].items()
    ]
    parts.append("# Deviations")
    parts += [
        f'<a id="deviation-{entry["id"]}"></a>**{entry["id"]}** ({entry["of"]}): {entry["what"]} '
        f"Why: {entry['why']} Effect: {entry['effect']}"
        for entry in departures
    ]
    return "\n\n".join(parts) + "\n"


def overview(judged: Sequence[Judged], document: Mapping[str, Any]) -> Iterator[str]:
    """How sentences, claims and verdicts relate, then the verdicts at a glance, group by group."""
    sets, said, claims = document["sets"], sentences(judged, document), by_claim(judged)
    unquoted = [
        Sentence(claim["claim"], "", claim["place"], group_of(claim), {e.against: [e] for e in own})
        for own in claims
        if not (claim := own[0].claim).get("quote")
    ]
    beyond = sum(row.group == Group.BEYOND for row in unquoted)
    theory = len(unquoted) - beyond
    yield (
        f"{len(said)} sentences of the paper are judged. A sentence has one or more parts, each a "
        "claim of its own: by environment, by policy (the deterministic one unless the claim says "
        "sampled) or by what the sentence asserts. They have "
        f"{len(claims) - len(unquoted)} parts. With {beyond} claims beyond the paper"
        + (f" and {theory} on theory that quotes no sentence" if theory else "")
        + f", there are {len(claims)} claims, each with a section below. POWR is the paper's "
        "algorithm with its authors' probable settings. What is beyond the paper is never called "
        "reproduced."
    )
    yield "\n".join(
        f"- {kind}: of {sum(counts.values())} sentences of the paper, "
        + ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
        + "."
        for kind, counts in count_by_kind(judged, sets).items()
    )
    for group in Group:
        rows = [row for row in (*said, *unquoted) if row.group == group]
        if rows:
            yield f"## {group}"
        first = ("claim", "about") if group == Group.BEYOND else ("sentence", "in the paper")
        for names in (list(sets), [""]):
            heads = [f"against {sets[name]['label']}" if name else "verdict" for name in names]
            lines = [
                (f"[{row.short}](#{row.claims[0]})", row.place, *verdicts)
                for row in rows
                if any(verdicts := [verdict_text(row.parts.get(name, [])) for name in names])
            ]
            if lines:
                yield table([(*first, *heads), *lines])


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
    holds = [e for e in tested if e.outcome.verdict in (REPRODUCED, BEYOND[REPRODUCED])]
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


def claim_section(
    entries: Sequence[Judged],
    sets: Mapping[str, Any],
    departures: Sequence[Mapping[str, Any]],
    first: bool,
) -> list[str]:
    """A claim with its verdicts; `first` of the parts of a sentence, where its note stands."""
    claim = entries[0].claim
    quote = f'> "{claim["quote"]}" ({claim["place"]})' if claim.get("quote") else claim["place"]
    parts = [f'## <a id="{claim["id"]}"></a>{claim["claim"]}', quote]
    parts += filter(None, [claim.get("note") if first else "", condition(entries, sets)])
    parts.append(f"Rule: [{claim['rule']}](#rule-{claim['rule']}).")
    for entry in entries:
        preliminary = " (preliminary)" if entry.preliminary else ""
        whose = f", {sets[entry.against]['name']}" if entry.against else ""
        reason = f": {entry.outcome.reason}" if entry.outcome.reason else ""
        parts.append(f"Verdict: **{entry.outcome.verdict}**{preliminary}{whose}{reason}.")
        if entry.outcome.findings:
            parts.append(table(findings_text(entry.outcome.findings)))
        if entry.runs:
            parts.append(run_files(entry))
    if claim.get("tests"):
        parts.append("Tests: " + ", ".join(f"`{name}`" for name in claim["tests"]) + ".")
    touching = [departure for departure in departures if claim["id"] in departure["touches"]]
    if touching:
        links = (f"[{entry['id']}](#deviation-{entry['id']})" for entry in touching)
        parts.append(f"Deviations that touch it: {', '.join(links)}.")
    return parts


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


def run_files(entry: Judged) -> str:
    """Folder by folder, folded away."""
    folders: dict[PurePath, list[str]] = {}
    for run in entry.runs:
        folders.setdefault(run.path.parent, []).append(run.path.name)
    lines = [f"- `{folder}`: " + ", ".join(sorted(names)) for folder, names in folders.items()]
    summary = f"<details><summary>{len(entry.runs)} run files</summary>"
    return "\n\n".join([summary, "\n".join(lines), "</details>"])
