"""claims.md: the verdicts first, then for each claim what it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from suite.claims.verdicts import (
    NOT_TESTED,
    PARTLY,
    REPRODUCED,
    THEORY_VERDICTS,
    VERDICTS,
    Finding,
)
from suite.markdown import table
from suite.results.statistics import Interval

if TYPE_CHECKING:
    from suite.claims.ledger import Judged


def render(
    judged: Sequence[Judged],
    document: Mapping[str, Any],
    scale: str,
    departures: Sequence[Mapping[str, Any]],
) -> str:
    """The verdicts of a scale as Markdown."""
    sets = document["sets"]
    groups = by_claim(judged)
    counts = "\n".join(f"- {text}" for text in count_texts(judged, sets))
    parts = [f"# The paper's claims at the scale {scale}", counts, *overview(groups, sets)]
    for entries in groups:
        rule = document["rules"][entries[0].claim["rule"]]
        parts += claim_section(entries, rule, sets, departures)
    return "\n\n".join(parts) + "\n"


def overview(groups: Sequence[Sequence[Judged]], sets: Mapping[str, Any]) -> list[str]:
    """The verdicts at a glance, with one column per set of settings where a claim has any."""
    compared = [("claim", "in the paper", *(entry["name"] for entry in sets.values()))]
    single = [("claim", "in the paper", "verdict")]
    for entries in groups:
        claim = entries[0].claim
        found = {entry.against: short_verdict(entry) for entry in entries}
        names, rows = ([""], single) if "" in found else (list(sets), compared)
        link = f"[{claim['claim']}](#{claim['id']})"
        rows.append((link, claim["place"], *(found.get(name, "") for name in names)))
    return [table(rows) for rows in (compared, single) if len(rows) > 1]


def short_verdict(entry: Judged) -> str:
    return f"**{entry.outcome.verdict}**" + (" (preliminary)" if entry.preliminary else "")


def by_claim(judged: Iterable[Judged]) -> list[list[Judged]]:
    """The verdicts of each claim, one per set of settings."""
    return [list(entries) for _, entries in groupby(judged, lambda entry: entry.claim["id"])]


def count_sentences(
    judged: Iterable[Judged], against: str, verdicts: Sequence[str] = VERDICTS
) -> dict[str, int]:
    """How many sentences of the paper have each of these verdicts, under one set of settings.

    Claims that quote the same sentence are its parts. Claims that quote none are not counted.
    """
    parts: dict[str, set[str]] = {}
    for entry in judged:
        verdict = entry.outcome.verdict
        if entry.claim.get("quote") and entry.against == against and verdict in verdicts:
            parts.setdefault(entry.claim["quote"], set()).add(verdict)
    found = Counter(map(_joint_verdict, parts.values()))
    return {verdict: found[verdict] for verdict in verdicts}


def count_by_kind(judged: Sequence[Judged], sets: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The counts of experiments, by set of settings, and of theory, which has other verdicts."""
    kinds: list[tuple[str, str, Sequence[str]]]
    kinds = [(f"Experiments, {sets[name]['name']}", name, VERDICTS) for name in sets]
    kinds += [("Experiments", "", VERDICTS), ("Theory", "", THEORY_VERDICTS)]
    preliminary = {entry.against for entry in judged if entry.preliminary}
    counts = {
        kind + (" (preliminary)" if against in preliminary else ""): count_sentences(
            judged, against, verdicts
        )
        for kind, against, verdicts in kinds
    }
    return {kind: found for kind, found in counts.items() if any(found.values())}


def _joint_verdict(verdicts: set[str]) -> str:
    """Of a sentence whose parts have these verdicts; it is open as long as one of them is."""
    if NOT_TESTED in verdicts:
        return NOT_TESTED
    return verdicts.pop() if len(verdicts) == 1 else PARTLY


def count_texts(judged: Sequence[Judged], sets: Mapping[str, Any]) -> list[str]:
    """The counts in words, one line per kind."""
    return [
        f"{kind}: of {sum(counts.values())} sentences of the paper, "
        + ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
        + "."
        for kind, counts in count_by_kind(judged, sets).items()
    ]


def condition(entries: Sequence[Judged], sets: Mapping[str, Any]) -> str:
    """One sentence on what a claim depends on; empty where it has a single verdict."""
    if len(entries) < 2:
        return ""
    tested = [entry for entry in entries if entry.outcome.verdict != NOT_TESTED]
    holds = [entry for entry in tested if entry.outcome.verdict == REPRODUCED]
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


def verdict_text(entry: Judged, sets: Mapping[str, Any]) -> str:
    whose = f", {sets[entry.against]['name']}" if entry.against else ""
    reason = f": {entry.outcome.reason}" if entry.outcome.reason else ""
    return f"{short_verdict(entry)}{whose}{reason}"


def claim_section(
    entries: Sequence[Judged],
    rule: Mapping[str, str],
    sets: Mapping[str, Any],
    departures: Sequence[Mapping[str, Any]],
) -> list[str]:
    claim = entries[0].claim
    quote = f'> "{claim["quote"]}" ({claim["place"]})' if claim.get("quote") else claim["place"]
    parts = [f'## <a id="{claim["id"]}"></a>{claim["claim"]}', quote]
    parts += filter(None, [claim.get("note"), condition(entries, sets)])
    parts += [f"Statistic: {rule['statistic']}", f"Decision: {rule['decision']}"]
    for entry in entries:
        parts.append(f"Verdict: {verdict_text(entry, sets)}.")
        if entry.outcome.findings:
            parts.append(table(findings_text(entry.outcome.findings)))
        if entry.runs:
            parts.append(run_files(entry))
    if claim.get("tests"):
        parts.append("Tests: " + ", ".join(f"`{name}`" for name in claim["tests"]) + ".")
    touching = [departure for departure in departures if claim["id"] in departure["touches"]]
    if touching:
        parts.append(
            "Deviations that touch it:\n\n"
            + "\n".join(f"- {departure['id']}: {departure['what']}" for departure in touching)
        )
    return parts


def findings_text(findings: Sequence[Finding]) -> list[list[str]]:
    """The findings as a table to read, its head first; columns that nobody fills are left out."""
    answers = {True: "yes", False: "no", None: "neither"}
    rows = [
        {
            "finding": each.subject,
            "statistic": each.statistic,
            "estimate": f"more than {each.estimate:.3g}"
            if each.is_bound
            else number(each.estimate),
            "95% interval": interval_text(each.interval),
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


def interval_text(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f"[{number(interval.low)}, {number(interval.high)}]"


def number(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.3g}".replace("inf", "∞")


def run_files(entry: Judged) -> str:
    """Folder by folder, folded away."""
    folders: dict[PurePath, list[str]] = {}
    for run in entry.runs:
        folders.setdefault(run.path.parent, []).append(run.path.name)
    lines = [f"- `{folder}`: " + ", ".join(sorted(names)) for folder, names in folders.items()]
    return (
        f"<details><summary>{len(entry.runs)} run files</summary>\n\n"
        + "\n".join(lines)
        + "\n\n</details>"
    )
