"""report.html: the answer, a card per sentence, charts to explore, and all that they rest on.

One file that opens offline. It shows what the tables of a scale say, and computes no verdict. The
explorer is given every evaluation to the last digit, so that a threshold which the reader drags
back to the study's gives the times of runs.csv.

    python -m suite report --scale quick
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from suite import config
from suite.claims import page
from suite.claims.document import Document, load, load_deviations
from suite.claims.judge import read_together
from suite.claims.page import Rows, Tables
from suite.command import make_parser, write_result
from suite.config import Combination, Study, algorithm_name
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, KINDS, LIBRARY, POWR
from suite.report import cards
from suite.results import summary as summary_page
from suite.results.ranking import cost_text, duration_text
from suite.results.tables import Results, read_table
from suite.training.evaluation import planned_grid

FOLDER = Path(__file__).parent
SCRIPTS = ("vendor/uPlot.iife.min.js", "explorer.js")
STYLES = ("vendor/uPlot.min.css", "report.css")
FROM_TABLES = (
    *("cells", "comparisons", "sentences", "sensitivity", "theory"),
    *("summary", "ranking", "cost", "origins", "curves"),
)
FILES = ("summary.md", "claims.md", *(f"{name}.csv" for name in (*FROM_TABLES, "runs")))
# The hue tells the settings: red is POWR, blue to violet are the library's defaults, green to brown
# the authors' settings. Contrast with the page is at least 3, as WCAG 2 asks.
COLOURS = {
    "powr": "#c1121f",
    **{"a2c": "#0284a8", "dqn": "#332288", "ppo": "#1e88e5", "trpo": "#8e5bd0"},
    **{"a2c-authors": "#6b7a00", "dqn-authors": "#117733", "ppo-authors": "#b88200"},
    "trpo-authors": "#8c510a",
}
OTHERS = ("#607d8b", "#d81b60", "#41a291", "#455a64", "#ad1457", "#00796b", "#8d6e8a")
PAPER_KINDS = (POWR, DEEP_OF_SOURCE[AUTHORS], DEEP_OF_SOURCE[LIBRARY])
ORDER = (*PAPER_KINDS, *(kind for kind in KINDS if kind not in PAPER_KINDS))
# The policy's name in curves.csv, and its column in evaluations.csv.
RECORDED = {"greedy": ("deterministic", "mean"), "sampled": ("sampled", "sampled_mean")}
SUMMARIES = {"timesteps to threshold": summary_page.times, "returns": summary_page.returns}


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that the template shows."""
    study, document = config.load(options.envs), load(options.claims)
    folder = options.results or study.results
    results = read_together(study, options.scale, folder)
    tables = {name: read_table(folder / options.scale / f"{name}.csv") for name in FROM_TABLES}
    curves = pd.concat(read_table(folder / scale / "curves.csv") for scale in results)
    figures = {path.stem: data_address(path) for path in options.figures}
    script = read_assets(SCRIPTS)
    return {
        "scale": options.scale,
        "runs": sum(len(each.there) for each in results.values()),
        "notices": notices(study, options.scale, results),
        "answer": answer(study, document, tables),
        "cards": cards.describe(document, tables),
        "cases": list(map(document.title, page.SHOWN)),
        "explorer": explorer(study, document, results, curves),
        "script": script,
        "script_digest": integrity(script),
        "style": read_assets(STYLES),
        "figures": figures,
        "legend": summary_page.LEGEND.replace("`", ""),
        "times": {
            f"{name}: {what}": table(rows)
            for name, rows in by_environment(tables["summary"])
            for what, table in SUMMARIES.items()
        },
        "ranking": {name: ranking_rows(rows) for name, rows in by_environment(tables["ranking"])},
        "cost": {name: cost_text(rows) for name, rows in by_environment(tables["cost"])},
        "changes": page.changes(tables["sensitivity"]),
        "untested": page.untested_rows(document),
        "theory": document.theory,
        "theory_verdicts": dict(tables["theory"][["id", "verdict"]].to_numpy()),
        "deviations": load_deviations(options.deviations, document).deviations,
        "named": {name: sentence.short for name, sentence in document.sentences.items()}
        | {theorem.id: theorem.claim for theorem in document.theory},
        "origins": tables["origins"].to_dict("records"),
        "files": FILES,
    }


def by_environment(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    return ((str(name), rows) for name, rows in table.groupby("environment", sort=False))


def answer(study: Study, document: Document, tables: Tables) -> str:
    """The README's answer, if the runs for it are finished."""
    cells = tables["cells"]
    main, *_ = document.sentences
    central = cells[(cells["sentence"] == main) & (cells["protocol"] == "random")]
    if central["effect"].notna().all():
        return page.answer(study, document, tables).replace("**", "")
    words = Counter(map(cards.cell_verdict, cells.itertuples()))
    counts = (f"{number} {word}" for word, number in words.most_common())
    return (
        "These runs do not suffice for an answer. Of all cells (a sentence on an environment, with "
        f"a set of baselines and a protocol): {', '.join(counts)}."
    )


def notices(study: Study, scale: str, results: Mapping[str, Results]) -> Iterator[str]:
    """Why the verdicts are not the last word."""
    if scale != study.default_scale:
        yield (
            f"These are results at the scale {scale}, with {study.scale(scale).seeds} seeds. "
            f"The paper's sentences are about the scale {study.default_scale}."
        )
    for name, each in results.items():
        if each.missing:
            runs = len(each.there) + len(each.missing)
            yield f"{len(each.missing)} of {runs} runs of the scale {name} are missing."


def explorer(
    study: Study, document: Document, results: Mapping[str, Results], curves: pd.DataFrame
) -> dict[str, Any]:
    """Everything that the page's script reads: the runs, their means, and each line's colour."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for scale, tables in results.items():
        for each in study.combinations(scale):
            policies = [
                policy
                for policy in RECORDED
                # What some algorithms sample is their exploration, and no policy.
                if policy == "greedy" or each.algorithm not in document.greedy
            ]
            group = explorer_group(each, policies, tables, curves)
            groups.setdefault(each.environment, []).append(group)
    names = dict.fromkeys(group["algorithm"] for each in groups.values() for group in each)
    kind = {name: study.algorithms[name].kind for name in names}
    algorithms = sorted(names, key=lambda name: ORDER.index(kind[name]))
    others = [name for name in algorithms if name not in COLOURS]
    colour = COLOURS | {name: OTHERS[i % len(OTHERS)] for i, name in enumerate(others)}
    return {
        "algorithms": [
            {
                "key": name,
                "name": algorithm_name(name),
                "kind": kind[name],
                "shown": kind[name] in PAPER_KINDS,
                "colour": colour[name],
            }
            for name in algorithms
        ],
        "environments": [
            {
                "name": environment,
                "thresholds": study.environments[environment].thresholds,
                "random": groups[environment],
                # The same where there is one start state anyway.
                "fixed": groups.get(document.started(environment, "fixed"), []),
            }
            for environment in study.scale(next(iter(results))).timesteps
        ],
    }


def explorer_group(
    each: Combination, policies: Sequence[str], tables: Results, curves: pd.DataFrame
) -> dict[str, Any]:
    """The runs of an algorithm on an environment; without runs where none is finished."""
    evaluations, means = (
        table[(table["environment"] == each.environment) & (table["algorithm"] == each.algorithm)]
        for table in (tables.evaluations, curves)
    )
    shown = {
        policy: evaluations[column]
        for policy, (_, column) in RECORDED.items()
        if policy in policies and len(evaluations) and evaluations[column].notna().all()
    }
    means = means.set_index("policy")[["mean", "min", "max"]]
    return {
        "algorithm": each.algorithm,
        "timesteps": planned_grid(each.settings),
        "policies": {policy: means.loc[[RECORDED[policy][0]]].to_dict("list") for policy in shown},
        "runs": [
            {"seed": run.seed, "file": f"../{run.path.as_posix()}"}
            | {
                policy: shortest(returns[evaluations["seed"] == run.seed])
                for policy, returns in shown.items()
            }
            for run in each.runs
            if run in tables.there
        ],
    }


def shortest(values: pd.Series) -> list[float]:
    """The same numbers, whole ones without a decimal point."""
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def ranking_rows(table: pd.DataFrame) -> Rows:
    rows = [("algorithm", "kind", "reached", "median timesteps", "seconds of training until then")]
    # Runs that never reach the threshold come last.
    for row in table.sort_values("median", kind="stable").itertuples():
        name = algorithm_name(str(row.algorithm)) + " (sampled)" * (row.policy == "sampled")
        cells = ["not run", "", ""]
        if row.seeds:
            cells = [f"{row.n_reached} of {row.seeds}", f"> {row.timesteps:,}", ""]
        if row.seeds and not math.isnan(row.median):
            cells[1:] = f"{row.median:,.0f}", duration_text(row.seconds_to_threshold)
        rows.append((name, str(row.kind), *cells))
    return rows


def data_address(path: Path) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"


def read_assets(names: Sequence[str]) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8").strip() for name in names)


def integrity(script: str) -> str:
    """The digest by which a content security policy allows exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


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
        text = templates().get_template("report.html.j2").render(describe(options))
        return {results / options.scale / "report.html": text}

    return write_result(parser.prog, make)
