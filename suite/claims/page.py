"""claims.md: the verdicts first, then for each claim what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from suite.claims.verdicts import VERDICTS, Finding
from suite.markdown import table

if TYPE_CHECKING:
    from suite.claims.ledger import Judged


def render(
    judged: Sequence[Judged],
    rules: Mapping[str, Mapping[str, str]],
    scale: str,
    departures: Sequence[Mapping[str, Any]],
) -> str:
    """The verdicts of a scale as Markdown."""
    verdicts = [entry.outcome.verdict for entry in judged]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS)
    overview = [("verdict", "claim", "in the paper")]
    overview += [
        (
            verdict_text(entry),
            f"[{entry.claim['claim']}](#{entry.claim['id']})",
            entry.claim["place"],
        )
        for entry in judged
    ]
    parts = [f"# The paper's claims at the scale {scale}", f"{counts}.", table(overview)]
    for entry in judged:
        parts += claim_section(entry, rules[entry.claim["rule"]], departures)
    return "\n\n".join(parts) + "\n"


def verdict_text(entry: Judged) -> str:
    label = " (preliminary)" if entry.preliminary else ""
    reason = f": {entry.outcome.reason}" if entry.outcome.reason else ""
    return f"**{entry.outcome.verdict}**{label}{reason}"


def claim_section(
    entry: Judged, rule: Mapping[str, str], departures: Sequence[Mapping[str, Any]]
) -> list[str]:
    claim, outcome = entry.claim, entry.outcome
    parts = [
        f'## <a id="{claim["id"]}"></a>{claim["claim"]}',
        f'> "{claim["quote"]}" ({claim["place"]})',
        f"Verdict: {verdict_text(entry)}.",
        f"Statistic: {rule['statistic']}",
        f"Decision: {rule['decision']}",
    ]
    if outcome.findings:
        parts.append(table(findings_text(outcome.findings)))
    if claim.get("tests"):
        parts.append("Tests: " + ", ".join(f"`{name}`" for name in claim["tests"]) + ".")
    touching = [departure for departure in departures if claim["id"] in departure["touches"]]
    if touching:
        parts.append(
            "Deviations that touch it:\n\n"
            + "\n".join(f"- {departure['id']}: {departure['what']}" for departure in touching)
        )
    if entry.runs:
        parts.append(run_files(entry))
    return parts


def findings_text(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """The findings as a table to read, its head first."""
    head = ("finding", "statistic", "estimate", "95% interval", "p", "speaks for the claim")
    answers = {True: "yes", False: "no", None: "neither"}
    rows = [
        (
            finding.subject,
            finding.statistic,
            number(finding.estimate),
            "" if math.isnan(finding.interval.low) else interval_text(finding),
            number(finding.p_value),
            answers[finding.supports],
        )
        for finding in findings
    ]
    return [head, *rows]


def interval_text(finding: Finding) -> str:
    return f"[{number(finding.interval.low)}, {number(finding.interval.high)}]"


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
