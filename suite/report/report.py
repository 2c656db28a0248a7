"""report.html: the answer, a card per sentence, charts to explore, and all that they rest on.

One file that opens offline. It shows what the tables of a scale say, and computes no verdict.

    python -m suite report --scale quick
"""

from __future__ import annotations

import argparse
import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from suite import config, readme
from suite.claims import deviations, page
from suite.claims import document as documents
from suite.claims.command import TOGETHER
from suite.command import make_parser, write_result
from suite.config import Study
from suite.names import algorithm_name
from suite.report import cards, explorer
from suite.results import summary as summary_page
from suite.results.ranking import cost_text, duration_text
from suite.results.tables import Results, read_results, read_table

FOLDER = Path(__file__).parent
SCRIPTS = ("vendor/uPlot.iife.min.js", "explorer.js")
STYLES = ("vendor/uPlot.min.css", "report.css")
FROM_TABLES = (
    *("cells", "comparisons", "sentences", "sensitivity", "theory"),
    *("summary", "ranking", "cost", "origins", "curves"),
)
FILES = ("summary.md", "claims.md", *(f"{name}.csv" for name in (*FROM_TABLES, "runs")))
ELSEWHERE = ("ranking", "multiverse", "theory")  # figures that stand beside their tables
SUMMARIES = {"timesteps to threshold": summary_page.times, "returns": summary_page.returns}

Rows = Sequence[Sequence[str]]


class Figure(NamedTuple):
    name: str
    source: str  # a data: address

    @classmethod
    def read(cls, path: Path) -> Figure:
        content = base64.b64encode(path.read_bytes()).decode()
        return cls(path.stem, f"data:image/svg+xml;base64,{content}")


class Section(NamedTuple):
    """A part of the page that is closed at first."""

    id: str
    title: str
    about: str
    figures: Sequence[Figure] = ()
    tables: Mapping[str, Rows] = {}  # by caption, the head first


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that the template shows."""
    study, document = config.load(options.envs), documents.load(options.claims)
    results = options.results or study.results
    scales = [options.scale] + [
        scale
        for scale in TOGETHER.get(options.scale, ())
        if (results / scale / "evaluations.csv").exists()
    ]
    found = {scale: read_results(study, scale, results / scale) for scale in scales}
    tables = {name: read_table(results / options.scale / f"{name}.csv") for name in FROM_TABLES}
    curves = pd.concat(read_table(results / scale / "curves.csv") for scale in scales)
    figures = {path.stem: Figure.read(path) for path in options.figures}
    return {
        "scale": options.scale,
        "runs": sum(len(each.there) for each in found.values()),
        "notices": notices(study, options.scale, found),
        "answer": answer(study, document, tables),
        "cards": cards.describe(
            document, tables["cells"], tables["comparisons"], tables["sentences"]
        ),
        "cases": cards.shown_cases(document),
        "explorer": explorer.describe(study, document, found, curves),
        "script": (script := read_assets(SCRIPTS)),
        "script_digest": integrity(script),
        "style": read_assets(STYLES),
        "sections": list(sections(document, tables, figures)),
        "theory_figure": figures.get("theory"),
        "theory": document.theory,
        "theory_verdicts": dict(tables["theory"][["id", "verdict"]].to_numpy()),
        "deviations": deviations.load(options.deviations, document).deviations,
        "named": {name: sentence.short for name, sentence in document.sentences.items()}
        | {theorem.id: theorem.claim for theorem in document.theory},
        "origins": tables["origins"].to_dict("records"),
        "files": FILES,
    }


def answer(study: Study, document: documents.Document, tables: Mapping[str, pd.DataFrame]) -> str:
    """The README's answer, where the runs for it are there."""
    cells = tables["cells"]
    main, *_ = document.sentences
    central = cells[(cells["sentence"] == main) & (cells["protocol"] == "random")]
    if central["effect"].notna().all():
        names = ("sentences", "ranking", "summary")
        text = readme.answer(study, document, *(tables[name] for name in names))
        return text.replace("**", "")
    words = Counter(map(cards.word_of, cells.itertuples()))
    counts = (f"{number} {word}" for word, number in words.most_common())
    return (
        "These runs do not suffice for an answer. Of all cells (a sentence on an environment, with "
        f"a set of baselines and a protocol): {', '.join(counts)}."
    )


def notices(study: Study, scale: str, found: Mapping[str, Results]) -> Iterator[str]:
    """Why the verdicts are not the last word."""
    if scale != study.default_scale:
        yield (
            f"These are results at the scale {scale}, with {study.scale(scale).seeds} seeds. "
            f"The paper's sentences are about the scale {study.default_scale}."
        )
    for name, each in found.items():
        if each.missing:
            runs = len(each.there) + len(each.missing)
            yield f"{len(each.missing)} of {runs} runs of the scale {name} are missing."


def sections(
    document: documents.Document, tables: Mapping[str, pd.DataFrame], figures: Mapping[str, Figure]
) -> Iterator[Section]:
    """What the answer rests on, one topic each."""
    elsewhere = {name: [figures[name]] if name in figures else [] for name in ELSEWHERE}
    by_environment = {
        name: {str(key): rows for key, rows in tables[name].groupby("environment", sort=False)}
        for name in ("summary", "ranking", "cost")
    }
    yield Section(
        "figures",
        "The paper's figures",
        "Figures 1 and 2 in the paper's form. Bands are the range over seeds; each point of the "
        "box plots is a seed.",
        [figure for name, figure in figures.items() if name not in ELSEWHERE],
    )
    yield Section(
        "tables",
        "Timesteps to threshold and returns",
        summary_page.LEGEND.replace("`", ""),
        tables={
            f"{name}: {what}": table(rows)
            for name, rows in by_environment["summary"].items()
            for what, table in SUMMARIES.items()
        },
    )
    yield Section(
        "ranking",
        "Ranking of all algorithms",
        "Classical baselines included. Times are those until the first evaluation at or above the "
        "threshold, medians over seeds.",
        elsewhere["ranking"],
        {name: list(ranking_rows(rows)) for name, rows in by_environment["ranking"].items()},
    )
    yield Section(
        "cost",
        "Cost",
        "Timesteps per second leave evaluations out. Hours are those of all seeds together, "
        "evaluations included, one core per run. All depend on the machine.",
        tables={name: cost_text(rows) for name, rows in by_environment["cost"].items()},
    )
    yield Section(
        "sensitivity",
        "Other choices of the rules",
        "Each rule makes choices. These change the verdict of a cell; all others change none.",
        tables={"Changed cells": list(page.changes(document, tables["sensitivity"]))},
    )
    yield Section(
        "multiverse",
        "Other plausible settings of POWR",
        "The paper does not report all of its settings. POWR under every plausible combination: "
        "each sentence is judged again for each of them.",
        elsewhere["multiverse"],
    )
    yield Section(
        "untested",
        "Sentences without a test",
        "What the paper says on its experiments and no run here decides.",
        tables={"Sentences without a test": list(page.untested_rows(document))},
    )


def ranking_rows(table: pd.DataFrame) -> Iterator[Sequence[str]]:
    yield ("algorithm", "kind", "reached", "median timesteps", "seconds of training until then")
    # Runs that never reach the threshold come last.
    for row in table.sort_values("median", kind="stable").itertuples():
        policy = " (sampled)" if row.policy == "sampled" else ""
        has_median = row.seeds and row.median == row.median
        yield (
            algorithm_name(str(row.algorithm)) + policy,
            str(row.kind),
            f"{row.n_reached} of {row.seeds}" if row.seeds else "not run",
            f"{row.median:,.0f}" if has_median else f"> {row.timesteps:,}" if row.seeds else "",
            duration_text(row.seconds_to_threshold) if has_median else "",
        )


def read_assets(names: Sequence[str]) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8").strip() for name in names)


def integrity(script: str) -> str:
    """The digest by which a content security policy allows exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def render(context: Mapping[str, Any]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
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
