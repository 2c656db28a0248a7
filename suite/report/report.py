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
from suite.claims.page import findings_text
from suite.claims.verdicts import PARTLY, VERDICTS
from suite.command import write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.results import aggregate, cost, summary_page
from suite.results.tables import other_runs, read_table

FOLDER = Path(__file__).parent
TABLES = ("summary.md", "summary.csv", "thresholds.csv", "curves.csv", "claims.csv", "cost.csv")
SYMBOLS = dict(zip(VERDICTS, "✓◐✗–", strict=True))
PHRASES = {PARTLY: "partly reproduced"}


class RunGroup(NamedTuple):
    """The planned runs of an algorithm on an environment."""

    environment: str
    algorithm: str
    anchor: str
    files: list[tuple[int, str, list[str]]]  # seed, where its files are, and what they end in


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    found = Counter(entry.outcome.verdict for entry in judged)
    return {verdict: found[verdict] for verdict in VERDICTS}


def headline(judged: Sequence[Judged], preliminary: bool) -> str:
    """The outcome in a sentence that can be quoted alone."""
    phrases = [
        f"{number} {'is' if number == 1 else 'are'} {PHRASES.get(verdict, verdict)}"
        for verdict, number in counts(judged).items()
        if number
    ]
    *others, last = phrases
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"{'Preliminary: of' if preliminary else 'Of'} {len(judged)} claims, {listed}."


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
            algorithm_name(row.algorithm): row.median_timestep
            for row in group.sort_values("median_timestep", kind="stable").itertuples()
        }
        arrived = [f"{name} {t:,.0f}" for name, t in medians.items() if math.isfinite(t)]
        never = [name for name, t in medians.items() if math.isinf(t)]
        absent = [name for name, t in medians.items() if math.isnan(t)]
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


def show_claim(
    entry: Judged,
    rules: Mapping[str, Mapping[str, str]],
    departures: Sequence[Mapping[str, Any]],
    groups: Sequence[RunGroup],
) -> dict[str, Any]:
    """What the template shows of a claim."""
    pairs = Counter((run.environment, run.algorithm) for run in entry.runs)
    return {
        "tests": [],
        **entry.claim,
        **rules[entry.claim["rule"]],
        "verdict": entry.outcome.verdict,
        "reason": entry.outcome.reason,
        "preliminary": entry.preliminary,
        "findings": findings_text(entry.outcome.findings) if entry.outcome.findings else [],
        "deviations": [d for d in departures if entry.claim["id"] in d["touches"]],
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
        "headline": headline(judged, preliminary=bool(reasons)),
        "rankings": rankings(summary),
        "counts": counts(judged),
        "symbols": SYMBOLS,
        "claims": {
            title: [
                show_claim(entry, document["rules"], departures, groups)
                for entry in judged
                if bool(ledger.needed(entry.claim["parameters"])) == needs_runs
            ]
            for title, needs_runs in (("Experiments", True), ("Theory", False))
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
