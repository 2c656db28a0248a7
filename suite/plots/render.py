"""What the figures share: the tables they read, the notes below them, the files they become."""

from __future__ import annotations

import importlib
import io
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY, POWR
from suite.plots.style import COLUMN_WIDTH, STYLE
from suite.results.tables import read_table

# Modules of suite/plots that `draw` a figure. TABLES names the tables that one is drawn from; a
# figure without it shows the paper's algorithms at a scale, and is drawn from its `Tables`.
FIGURES = (
    *("training_curves", "threshold_boxplots", "ranking"),
    *("multiverse", "theory"),
)
PANELS_A_ROW = 3
# Nothing that changes from one drawing to the next: no date, no version of the drawing library.
METADATA = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
    "png": {"Software": None},
}
SETTINGS = {
    POWR: "POWR is the paper's algorithm with the settings that its authors probably used, who "
    "evaluate the sampled policy.",
    DEEP_OF_SOURCE[LIBRARY]: "Baselines with library defaults, deterministic.",
    DEEP_OF_SOURCE[AUTHORS]: "Baselines with the settings that the paper's authors probably used, "
    "deterministic.",
}


class Tables(NamedTuple):
    """The aggregated tables of one scale."""

    curves: pd.DataFrame
    runs: pd.DataFrame
    summary: pd.DataFrame

    @property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(self.summary["algorithm"]))

    @property
    def environments(self) -> list[str]:
        return list(dict.fromkeys(self.summary["environment"]))


def read_tables(folder: Path) -> Tables:
    return Tables(*(read_table(folder / f"{name}.csv") for name in Tables._fields))


def of_paper(tables: Tables, source: str) -> Tables:
    """What the paper's figures show: POWR by both its policies, and the baselines of a source.

    The result treats each policy of POWR as an algorithm, such as powr-sampled.
    """
    kind_of = dict(zip(tables.summary["algorithm"], tables.summary["kind"], strict=True))
    if not {POWR, DEEP_OF_SOURCE[source]} & set(kind_of.values()):
        raise SuiteError(
            f"summary.csv has neither {POWR} nor a baseline with {source}: choose another scale"
        )

    def chosen(table: pd.DataFrame) -> pd.DataFrame:
        kinds = table["algorithm"].map(kind_of)
        own = kinds == POWR
        baseline = (kinds == DEEP_OF_SOURCE[source]) & (table["policy"] == "deterministic")
        split = table["algorithm"] + "-" + table["policy"]
        return table.assign(algorithm=table["algorithm"].where(~own, split))[own | baseline]

    return Tables(*map(chosen, tables))


def deterministic(tables: Tables) -> Tables:
    """The part of the tables that is about deterministic policies."""
    return Tables(*(table[table["policy"] == "deterministic"] for table in tables))


def settings_note(summary: pd.DataFrame) -> str:
    """Which algorithms a figure shows, and under which settings they were trained."""
    return " ".join(SETTINGS[kind] for kind in SETTINGS if kind in set(summary["kind"]))


def seeds_note(summary: pd.DataFrame) -> str:
    """How many seeds a figure shows, and how many runs are missing."""
    planned = summary["seeds_planned"].iloc[0]
    pairs = summary.drop_duplicates(["environment", "algorithm"])
    missing = missing_note(pairs["seeds"], pairs["seeds_planned"]).strip(" .")
    seeds = f"{planned} seeds" if planned > 1 else "1 seed"
    return f"{seeds} ({missing})" if missing else seeds


def missing_note(there: pd.Series, planned: pd.Series) -> str:
    missing, due = planned.sum() - there.sum(), planned.sum()
    return f" {missing} of {due} runs are missing." if missing else ""


def make_panels(environments: Sequence[str], height: float) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel per environment, three in a row, each `height` inches tall."""
    rows = math.ceil(len(environments) / PANELS_A_ROW)
    figure = Figure(figsize=(COLUMN_WIDTH, rows * height), layout="constrained")
    columns = min(len(environments), PANELS_A_ROW)
    panels = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for panel in panels[len(environments) :]:
        panel.remove()
    for panel, environment in zip(panels, environments, strict=False):
        panel.set_title(environment)
    return figure, panels[: len(environments)]


def set_time_axis(panel: Axes, first: float, last: float) -> None:
    """Timesteps in log scale, one label per decade, or three where there are hardly any decades."""
    panel.set_xscale("log")
    panel.set_xlim(0.8 * first, 1.25 * last)
    subs = (1,) if last >= 20 * first else (1, 2, 5)
    panel.xaxis.set_major_locator(LogLocator(subs=subs, numticks=99))
    panel.xaxis.set_minor_formatter(NullFormatter())
    if len(subs) > 1:
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def add_note(figure: Figure, text: str) -> None:
    figure.supxlabel(textwrap.fill(text, 110, break_on_hyphens=False), fontsize=6.5, color="0.3")


def number(value: float) -> str:
    return f"{value:,g}".replace("-", "\N{MINUS SIGN}")


def files(
    draw: Callable[[Any], Figure], data: Any, base: Path, formats: Iterable[str] = METADATA
) -> dict[Path, bytes]:
    """A figure in each format, by the path that ends so."""
    found = {}
    with matplotlib.style.context(["default", STYLE]):
        figure = draw(data)
        for kind in formats:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=METADATA[kind])
            found[base.with_name(f"{base.name}.{kind}")] = buffer.getvalue()
    return found


def draw_files(module: Any, folder: Path, base: Path, *data: Any) -> dict[Path, bytes]:
    """The figure of a module with these data, or with the tables that it names, from a folder."""
    found = data or [read_table(folder / f"{table}.csv") for table in module.TABLES]
    return files(lambda tables: module.draw(*tables), found, base)


def main(arguments: Sequence[str] | None = None) -> int:
    description = "Draw one figure of a scale as PDF, SVG and PNG."
    parser = make_parser("figure", description, "--scale", "--envs", "--results", "--out-dir")
    parser.add_argument("name", choices=FIGURES)
    parser.add_argument(
        "--authors",
        action="store_true",
        help="show the baselines with the authors' probable settings, not with library defaults; "
        "the file's name then ends in _authors",
    )
    options = parser.parse_args(arguments)
    stem = f"{options.name}_authors" if options.authors else options.name

    def make() -> dict[Path, bytes]:
        study = config.load(options.envs)
        folder = (options.results or study.results) / options.scale
        module = importlib.import_module(f"suite.plots.{options.name}")
        data = []
        if not hasattr(module, "TABLES"):
            tables, source = read_tables(folder), AUTHORS if options.authors else LIBRARY
            data = [of_paper(tables, source) if study.replication else deterministic(tables)]
        return draw_files(module, folder, (options.out_dir or folder) / stem, *data)

    return write_result(parser.prog, make)
