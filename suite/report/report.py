"""report.html: the verdicts first, then everything they rest on, in one file that opens offline.

Shows what the tables, figures and run files of a scale say and computes no statistic of its own.

    python -m suite.report.report --scale quick
"""

from __future__ import annotations

import argparse
import base64
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import jinja2
import pandas as pd

from suite import config
from suite.claims import deviations, ledger
from suite.claims.ledger import Judged
from suite.claims.page import (
    by_claim,
    condition,
    count_sentences,
    count_texts,
    findings_text,
)
from suite.claims.verdicts import VERDICTS
from suite.command import write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.results import aggregate, cost, summary_page
from suite.results.tables import other_runs, read_table

FOLDER = Path(__file__).parent
TABLES = (
    "summary.md",
    "summary.csv",
    "runs.csv",
    "thresholds.csv",
    "curves.csv",
    "claims.csv",
    "cost.csv",
)
SYMBOLS = dict(zip(VERDICTS, "✓◐✗–", strict=True))
TITLES = ("Experiments", "Theory", "Asked beside the paper")


class RunGroup(NamedTuple):
    """The planned runs of an algorithm on an environment."""

    environment: str
    algorithm: str
    anchor: str
    files: list[tuple[int, str, list[str]]]  # seed, where its files are, and what they end in


def counts(judged: Sequence[Judged], sets: Mapping[str, Any]) -> dict[str, int]:
    """Verdicts on the sentences of the paper, with the first set of baselines that is judged."""
    first = next((name for name in sets if any(entry.against == name for entry in judged)), "")
    return count_sentences(judged, first)


def headline(judged: Sequence[Judged], sets: Mapping[str, Any], preliminary: bool) -> str:
    """The outcome in sentences that can be quoted alone."""
    label = "Preliminary. " if preliminary else ""
    return label + " ".join(count_texts(judged, sets))


def preliminary_reasons(
    scale: str, final_scale: str, seeds: int, missing: int, due: int
) -> list[str]:
    """Why the verdicts are not the last word; empty if they are."""
    reasons = []
    if scale != final_scale:
        reasons.append(
            f"These are results at the scale {scale}, with {seeds} seeds. The paper's claims are "
            f"about the scale {final_scale}."
        )
    if missing:
        reasons.append(
            f"{missing} of {due} runs are missing; figures and tables show those that are there."
        )
    return reasons


def rankings(summary: pd.DataFrame) -> dict[str, str]:
    """Median timesteps to the first threshold of each environment, the fewest first."""
    rows = summary[summary["policy"] == "deterministic"]
    ranked = {}
    for environment, group in rows.groupby("environment", sort=False):
        group = group[group["threshold"] == group["threshold"].iloc[0]]
        medians = {
            algorithm_name(row.algorithm): (row.timesteps_to_threshold, row.seeds)
            for row in group.sort_values("timesteps_to_threshold", kind="stable").itertuples()
        }
        arrived = [f"{name} {t:,.0f}" for name, (t, _) in medians.items() if not math.isnan(t)]
        never = [name for name, (t, seeds) in medians.items() if math.isnan(t) and seeds]
        absent = [name for name, (_, seeds) in medians.items() if not seeds]
        parts = [
            ", ".join(arrived),
            f"not within training {', '.join(never)}" if never else "",
            f"no run of {', '.join(absent)}" if absent else "",
        ]
        title = f"{environment}, return {group['threshold'].iloc[0]:g}"
        ranked[title] = "; ".join(filter(None, parts))
    return ranked


def inline_svg(path: Path) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"


def group_runs(planned: Iterable[Run], there: Mapping[Run, Mapping[str, Any]]) -> list[RunGroup]:
    """All planned runs; `there` has the JSON of those that are, the others have no files."""
    groups: dict[tuple[str, str], RunGroup] = {}
    for run in planned:
        key = (run.environment, run.algorithm)
        group = groups.setdefault(key, RunGroup(*key, f"runs-{len(groups)}", []))
        address = quote(run.path.relative_to(run.scale).with_suffix("").as_posix())
        agent = ["npz"] if "agent_sha256" in there.get(run, {}) else []
        group.files.append((run.seed, address, ["csv", "json", *agent] if run in there else []))
    return list(groups.values())


def title_of(claim: Mapping[str, Any]) -> str:
    experiments, theory, own = TITLES
    if not claim["parameters"].needed():
        return theory
    return experiments if claim.get("quote") else own


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
        **claim,
        **document["rules"][claim["rule"]],
        "condition": condition(entries, document["sets"]),
        "verdict": entries[0].outcome.verdict,
        "verdicts": [show_verdict(entry, document["sets"], groups) for entry in entries],
        "deviations": [d for d in departures if claim["id"] in d["touches"]],
    }


def show_verdict(
    entry: Judged, sets: Mapping[str, Any], groups: Sequence[RunGroup]
) -> dict[str, Any]:
    pairs = Counter((run.environment, run.algorithm) for run in entry.runs)
    return {
        "verdict": entry.outcome.verdict,
        "whose": f"with {sets[entry.against]['name']}" if entry.against else "",
        "reason": entry.outcome.reason,
        "preliminary": entry.preliminary,
        "findings": findings_text(entry.outcome.findings) if entry.outcome.findings else [],
        "runs": [
            (group, pairs[group.environment, group.algorithm])
            for group in groups
            if (group.environment, group.algorithm) in pairs
        ],
    }


def show_environment(name: str, summary: pd.DataFrame, costs: pd.DataFrame) -> dict[str, Any]:
    rows = summary[summary["environment"] == name]
    return {
        "name": name,
        "times": summary_page.times(rows),
        "returns": summary_page.returns(rows),
        "bounds": summary_page.bounds_text(rows),
        "cost": cost.as_text(costs[costs["environment"] == name]),
    }


def read_counts(path: Path, column: str, loaded: aggregate.Loaded) -> pd.DataFrame:
    """A table with the number of runs in a column, which must be those there are."""
    table = read_table(path)
    there = Counter((run.environment, run.algorithm) for run in loaded.metadata)
    for environment, algorithm, counted in zip(
        table["environment"], table["algorithm"], table[column], strict=True
    ):
        number = there[environment, algorithm]
        if counted != number:
            name = f"{algorithm_name(algorithm)} on {environment}"
            raise other_runs(path, f"counts {counted} runs of {name}, {number} are there")
    return table


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that the template shows."""
    folder = options.results / options.scale
    figures = options.figures or folder
    study, document = config.load(options.envs), ledger.load(options.claims)
    departures = deviations.load(options.deviations, document)["deviations"]
    loaded = aggregate.load_runs(study, options.scale, options.results, partial=True)
    judged = ledger.read_judged(folder / "claims.csv", document, loaded)
    summary = read_counts(folder / "summary.csv", "seeds", loaded)
    costs = read_counts(folder / "cost.csv", "runs", loaded)
    planned = config.runs(study, options.scale)
    groups = group_runs(planned, loaded.metadata)
    reasons = preliminary_reasons(
        options.scale,
        document["scale"],
        study["scales"][options.scale]["seeds"],
        len(loaded.missing),
        len(planned),
    )
    return {
        "scale": options.scale,
        "runs": len(loaded.metadata),
        "runs_due": len(planned),
        "reasons": reasons,
        "headline": headline(judged, document["sets"], preliminary=bool(reasons)),
        "rankings": rankings(summary),
        "counts": counts(judged, document["sets"]),
        "symbols": SYMBOLS,
        "claims": {
            title: [
                show_claim(entries, document, departures, groups)
                for entries in by_claim(judged)
                if title_of(entries[0].claim) == title
            ]
            for title in TITLES
        },
        "training_curves": inline_svg(figures / "training_curves.svg"),
        "threshold_boxplots": inline_svg(figures / "threshold_boxplots.svg"),
        "environments": [
            show_environment(name, summary, costs) for name in dict.fromkeys(summary["environment"])
        ],
        "legend": summary_page.LEGEND,
        "deviations": departures,
        "claim_text": {claim["id"]: claim["claim"] for claim in document["claims"]},
        "origins": summary_page.find_origins(
            metadata["provenance"] for metadata in loaded.metadata.values()
        ),
        "groups": groups,
        "tables": TABLES,
    }


def render(context: Mapping[str, Any]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["algorithm_name"] = algorithm_name
    return environment.get_template("report.html.j2").render(context)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="suite.report.report", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--scale", required=True, help="a scale that has been aggregated")
    parser.add_argument("--envs", default="envs.yaml", help="the study (default: %(default)s)")
    parser.add_argument("--claims", default="claims.yaml", help="default: %(default)s")
    parser.add_argument("--deviations", default="deviations.yaml", help="default: %(default)s")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the run files"
    )
    parser.add_argument("--figures", type=Path, help="folder of the SVGs (default: the scale's)")
    options = parser.parse_args(arguments)
    page = options.results / options.scale / "report.html"
    return write_result(parser.prog, lambda: {page: render(describe(options))})


if __name__ == "__main__":
    sys.exit(main())
