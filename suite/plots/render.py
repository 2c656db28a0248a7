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
from matplotlib.ticker import EngFormatter

from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY, POWR
from suite.plots.style import COLUMN_WIDTH, FAINT, SMALL, STYLE
from suite.results.tables import read_table

# Modules of suite/plots that `draw` a figure. TABLES names the tables that one is drawn from; a
# figure without it shows the paper's algorithms at a scale, and is drawn from its `Tables`.
FIGURES = ("answer", "training_curves", "threshold_boxplots", "ranking", "multiverse", "theory")
PANELS_PER_ROW = 3
# Nothing that changes from one drawing to the next: no date, no version of the drawing library.
METADATA = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
    "png": {"Software": None},
}
SETTINGS = {LIBRARY: "library defaults", AUTHORS: "authors' settings"}


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
    """What the paper's figures show: POWR, and the greedy policies of the baselines of a source.

    POWR acts by its sampled policy, which the authors evaluate. Beside baselines with the authors'
    settings its greedy policy is shown too, as an algorithm of its own, powr-greedy.
    """
    kind_of = dict(zip(tables.summary["algorithm"], tables.summary["kind"], strict=True))
    if not {POWR, DEEP_OF_SOURCE[source]} & set(kind_of.values()):
        raise SuiteError(
            f"summary.csv has neither {POWR} nor a baseline with {source}: choose another scale"
        )

    def chosen(table: pd.DataFrame) -> pd.DataFrame:
        kinds, greedy = table["algorithm"].map(kind_of), table["policy"] == "deterministic"
        powr = (kinds == POWR) & (~greedy | (source == AUTHORS))
        names = table["algorithm"].str.removesuffix("-authors")
        shown = table.assign(algorithm=names.mask(powr & greedy, names + "-greedy"))
        shown = shown[powr | (kinds == DEEP_OF_SOURCE[source]) & greedy]
        return shown.sort_values("algorithm", key=lambda names: names != "powr", kind="stable")

    return Tables(*map(chosen, tables))


def deterministic(tables: Tables) -> Tables:
    """The part of the tables that is about deterministic policies."""
    return Tables(*(table[table["policy"] == "deterministic"] for table in tables))


def settings_note(summary: pd.DataFrame) -> str:
    """How many seeds a figure shows of which baselines, in a few words."""
    planned = summary["seeds_planned"].iloc[0]
    kinds = set(summary["kind"])
    sources = [source for source, kind in DEEP_OF_SOURCE.items() if kind in kinds]
    baselines = f"baselines with {' and '.join(SETTINGS[each] for each in sources)}"
    pairs = summary.drop_duplicates(["environment", "algorithm"])
    missing = missing_note(pairs["seeds"], pairs["seeds_planned"])
    return f"{planned} seeds{f', {baselines}' if sources else ''}.{missing}"


def missing_note(there: pd.Series, planned: pd.Series) -> str:
    missing, due = planned.sum() - there.sum(), planned.sum()
    return f" {missing} of {due} runs are missing." if missing else ""


def make_panels(environments: Sequence[str], height: float) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel per environment, three in a row, each `height` inches tall."""
    rows = math.ceil(len(environments) / PANELS_PER_ROW)
    figure = Figure(figsize=(COLUMN_WIDTH, rows * height), layout="constrained")
    columns = min(len(environments), PANELS_PER_ROW)
    panels = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for panel in panels[len(environments) :]:
        panel.remove()
    for panel, environment in zip(panels, environments, strict=False):
        panel.set_title(environment)
    return figure, panels[: len(environments)]


def set_time_axis(panel: Axes, first: float, last: float, *, has_never: bool = False) -> float:
    """Timesteps in log scale, and the place of what never happens, right of an axis that has it."""
    first = last / 100 if pd.isna(first) else first  # no run reaches any threshold
    low, high = 0.8 * first, 1.25 * last
    never = high * (high / low) ** 0.16
    panel.set_xscale("log")
    steps = (1,) if last >= 20 * first else (1, 2, 5)
    ticks = [step * 10**decade for decade in range(10) for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    every = 1 if len(ticks) < 6 else 2
    short = EngFormatter(sep="")  # 1,000 as 1k and a million as 1M
    labels = ["" if place % every else short(tick) for place, tick in enumerate(ticks)]
    if has_never:
        panel.axvline(math.sqrt(high * never), color="0.6", lw=0.6, label="_end")
        ticks, labels = [*ticks, never], [*labels, "never"]
    panel.set_xticks(ticks, labels)
    panel.set_xticks([], minor=True)
    panel.set_xlim(low, high * (high / low) ** 0.25 if has_never else high)
    return never


def add_note(figure: Figure, text: str) -> None:
    note = textwrap.fill(text, 110, break_on_hyphens=False)
    figure.supxlabel(note, fontsize=SMALL, color=FAINT)


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
        help="show the baselines with the authors' settings, not with library defaults; "
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
