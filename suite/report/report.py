"""report.html: the outcome, figures to explore, then the verdicts and everything they rest on.

One file that opens offline, and without scripts too. It shows what the tables, figures and run
files of a scale say. Only the explorer computes statistics, for a threshold that its reader sets.

    python -m suite report --scale quick
"""

from __future__ import annotations

import argparse
import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from suite import config
from suite import multiverse as universes
from suite.claims import deviations, ledger
from suite.claims.page import Group, by_claim, count_by_kind, group_of
from suite.claims.verdicts import BEYOND, THEORY_VERDICTS, VERDICTS
from suite.command import make_parser, write_result
from suite.names import algorithm_name
from suite.release import answer
from suite.report import explorer
from suite.report.evidence import group_runs, show_claim
from suite.results import aggregate, summary_page
from suite.results.ranking import cost_text
from suite.results.tables import read_results, read_table

FOLDER = Path(__file__).parent
SCRIPTS = ("vendor/uPlot.iife.min.js", "statistics.js", "tables.js", "explorer.js", "downloads.js")
STYLES = ("vendor/uPlot.min.css", "report.css")
TABLES = ("summary.md", "summary.csv", "runs.csv", "curves.csv", "claims.csv", "cost.csv")
SYMBOLS = {
    **dict(zip(VERDICTS, "✓◐✗–", strict=True)),
    **dict(zip(BEYOND.values(), "✓◐✗–", strict=True)),
    **dict(zip(THEORY_VERDICTS, "=≤◐◐¶✗?", strict=True)),
}
# Where scripts run, the explorer takes the place of these.
EXPLORED = ("training_curves", "threshold_boxplots")
# Captions, by the name of the file.
FIGURES = {
    "training_curves": (
        "The paper's POWR and its baselines: mean return over timesteps, in log scale; the band is "
        "the range over seeds. See how far "
        "left a line crosses the dashed threshold: ten times fewer timesteps are one decade. A "
        "line that falls again has forgotten, one that stays flat below the threshold is stuck."
    ),
    "threshold_boxplots": (
        "The paper's POWR and its baselines: timesteps until the return first meets the "
        "threshold, in log scale, one point per seed. "
        "See whether POWR's points lie left of all others (fewer timesteps), and whether they lie "
        "closer together (seeds agree). An algorithm that does not arrive within its training has "
        "no box."
    ),
    "ranking": (
        "The ranking: median timesteps to the threshold of every algorithm: the paper's POWR, what "
        "is beyond the paper, textbook methods and deep networks. The further left, the fewer."
    ),
    "multiverse": (
        "The paper's POWR under every plausible combination of settings: medians over seeds, "
        "sorted, with the settings as dots beneath, and the best baseline of each set as a line."
    ),
    "theory": (
        "The paper's theorems by numbers: bounds and rates beside what exact computation finds. "
        "Bounds far above the measured lines are no evidence; the verdicts on theory rest on "
        "harder cases."
    ),
}


def show_figure(path: Path) -> dict[str, Any]:
    """A figure as the template shows it, inlined."""
    return {
        "name": path.stem,
        "source": f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}",
        "caption": FIGURES[path.stem],
        "explored": path.stem in EXPLORED,
    }


def show_markdown(path: Path) -> list[str | list[list[str]]]:
    """The paragraphs of a generated page, and its tables as rows of cells; none if it is absent."""
    if not path.exists():
        return []
    blocks: list[str | list[list[str]]] = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith("|"):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            blocks.append([rows[0], *rows[2:]])
        elif lines:
            blocks.append(" ".join(lines).replace("`", ""))
    return blocks


def read_assets(names: Sequence[str]) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8").strip() for name in names)


def integrity(script: str) -> str:
    """The digest by which a content security policy allows exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that the template shows."""
    study, document = config.load(options.envs), ledger.load(options.claims)
    results = options.results or study.results
    folder = results / options.scale
    departures = deviations.load(options.deviations, document)["deviations"]
    tables = read_results(study, options.scale, folder)
    judged = ledger.read_judged(folder / "claims.csv", document, tables)
    names = ("summary.csv", "cost.csv", "origins.csv")
    summary, costs, origins = (read_table(folder / name) for name in names)
    planned = study.scale(options.scale).runs()
    agents = dict(zip(tables.there, tables.training["has_agent"], strict=True))
    groups = group_runs(planned, agents)
    multiverse, is_final = results / config.MULTIVERSE, options.scale == document["scale"]
    found = universes.read(results) if is_final else []
    reasons = []  # why the verdicts are not the last word
    if not is_final:
        reasons.append(
            f"These are results at the scale {options.scale}, with "
            f"{study.scale(options.scale).seeds} seeds. The paper's claims are about the "
            f"scale {document['scale']}."
        )
    if tables.missing:
        reasons.append(
            f"{len(tables.missing)} of {len(planned)} runs are missing; figures and tables show "
            "those that are there."
        )
    return {
        "scale": options.scale,
        "runs": len(tables.there),
        "runs_due": len(planned),
        "reasons": reasons,
        "headline": answer.answer(judged, document, found),
        "counts": count_by_kind(judged, document["sets"]),
        "symbols": SYMBOLS,
        "claims": {
            str(group): [
                show_claim(entries, document, departures, groups)
                for entries in by_claim(judged)
                if group_of(entries[0].claim) == group
            ]
            for group in Group
        },
        "figures": [show_figure(path) for path in options.figures],
        "multiverse": show_markdown(multiverse / "multiverse.md") if is_final else [],
        "explorer": explorer.describe(
            study,
            aggregate.plan(study, options.scale),
            tables.evaluations,
            tables.there,
            document["level"],
        ),
        "script": (script := read_assets(SCRIPTS)),
        "script_digest": integrity(script),
        "style": read_assets(STYLES),
        "environments": [
            {
                "name": name,
                "times": summary_page.times(rows),
                "returns": summary_page.returns(rows),
                "bounds": summary_page.bounds_text(rows),
                "cost": cost_text(costs[costs["environment"] == name]),
            }
            for name, rows in summary.groupby("environment", sort=False)
        ],
        "legend": summary_page.LEGEND,
        "deviations": departures,
        "claim_text": {claim["id"]: claim["claim"] for claim in document["claims"]},
        "origins": [
            {**row, "packages": row["packages"].split(", ")} for row in origins.to_dict("records")
        ],
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
    parser = make_parser(
        "report", __doc__, "--scale", "--envs", "--claims", "--deviations", "--results"
    )
    parser.add_argument(
        "--figures", type=Path, nargs="+", default=[], help="SVGs in the order to show them"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        results = options.results or config.load(options.envs).results
        return {results / options.scale / "report.html": render(describe(options))}

    return write_result(parser.prog, make)
