"""What the report shows of a claim: its verdicts, and the runs that each rests on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from suite.claims.ledger import Judged
from suite.claims.page import condition, findings_text
from suite.config import Run


class RunGroup(NamedTuple):
    """The planned runs of an algorithm on an environment."""

    environment: str
    algorithm: str
    anchor: str
    files: list[tuple[int, str, list[str]]]  # seed, where its files are, and what they end in


def group_runs(planned: Iterable[Run], has_agent: Mapping[Run, bool]) -> list[RunGroup]:
    """All planned runs; `has_agent` knows those that are there, the others have no files."""
    groups: dict[tuple[str, str], RunGroup] = {}
    for run in planned:
        key = (run.environment, run.algorithm)
        group = groups.setdefault(key, RunGroup(*key, f"runs-{len(groups)}", []))
        address = quote(run.path.relative_to(run.scale).with_suffix("").as_posix())
        agent = ["npz"] if has_agent.get(run) else []
        group.files.append((run.seed, address, ["csv", "json", *agent] if run in has_agent else []))
    return list(groups.values())


def show_claim(
    entries: Sequence[Judged],
    document: Mapping[str, Any],
    departures: Sequence[Mapping[str, Any]],
    groups: Sequence[RunGroup],
) -> dict[str, Any]:
    """What the template shows of a claim and its verdicts, the first one as the claim's colour."""
    claim = entries[0].claim
    return {
        "tests": [],
        "quote": None,
        "note": None,
        **claim,
        **document["rules"][claim["rule"]],
        "condition": condition(entries, document["sets"]),
        "views": views(claim),
        "verdict": entries[0].outcome.verdict,
        "verdicts": [show_verdict(entry, document["sets"], groups) for entry in entries],
        "deviations": [d for d in departures if claim["id"] in d["touches"]],
    }


def views(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the explorer shows what a claim compares: environments with their addresses."""
    given = dict(claim["parameters"])
    shared = {key: given[key] for key in ("policy", "arrival") if key in given}
    found = []
    for environment, threshold in given.get("thresholds", {}).items():
        place = {"environment": environment, "threshold": f"{environment}:{threshold:g}"}
        address = urlencode({**place, **shared, "open": claim["id"]})
        found.append((f"{environment} at {threshold:g}", address))
    return found


def show_verdict(
    entry: Judged, sets: Mapping[str, Any], groups: Sequence[RunGroup]
) -> dict[str, Any]:
    pairs = Counter((run.environment, run.algorithm) for run in entry.runs)
    return {
        "verdict": entry.outcome.verdict,
        "label": sets[entry.against]["label"] if entry.against else "",
        "whose": sets[entry.against]["name"] if entry.against else "",
        "reason": entry.outcome.reason,
        "preliminary": entry.preliminary,
        "findings": findings_text(entry.outcome.findings) if entry.outcome.findings else [],
        "runs": [
            (group, pairs[group.environment, group.algorithm])
            for group in groups
            if (group.environment, group.algorithm) in pairs
        ],
    }
