"""What the figures share: their look, their axes and notes, and the files that they become.

The colours stay apart with every common kind of colour blindness, without the shapes
(tests/plots/test_render.py).
"""

from __future__ import annotations

import importlib
import io
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, KINDS, LIBRARY, POWR
from suite.results.ranking import SETTINGS
from suite.results.tables import read_table

# Modules of suite/plots that `draw` a figure from the tables that their TABLES names.
FIGURES = ("answer", "training_curves", "threshold_boxplots", "ranking", "multiverse", "theory")
OF_PAPER = ("training_curves", "threshold_boxplots")  # they show the paper's algorithms only
PANELS_PER_ROW = 3
COLUMN_WIDTH = 5.5  # inches, the text width of a one-column paper
FAINT, SMALL = "0.35", 6.0  # of what explains, and is not data
# Nothing that changes from one drawing to the next: no date, no version of the drawing library.
METADATA = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
    "png": {"Software": None},
}
STYLE = Path(__file__).with_name("paper.mplstyle")


class Look(NamedTuple):
    colour: str
    dashes: tuple[float, ...]  # lengths of ink and gap in line widths; empty for a solid line
    marker: str
    width: float

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "dashes": self.dashes or (None, None), "lw": self.width}


KNOWN = {
    "powr": Look("#B2182B", (), "o", 1.8),
    "a2c": Look("#000000", (1, 1), "s", 1.2),
    "dqn": Look("#332288", (4, 1.5), "^", 1.2),
    "ppo": Look("#1E88E5", (7, 2), "D", 1.2),
    "trpo": Look("#E69F00", (5, 1.5, 1, 1.5), "v", 1.2),
}
# Policies are shown apart for POWR alone: in one colour, since it is one algorithm.
GREEDY = KNOWN["powr"]._replace(dashes=(2, 1), marker="d", width=0.8)
SPARE = (
    Look("#336666", (2, 2), "P", 1.0),
    Look("#BB77BB", (3, 1, 1, 1, 1, 1), "X", 1.0),
    Look("#6633DD", (8, 1, 2, 1), "<", 1.0),
    Look("#8A8A66", (1, 3), ">", 1.0),
)
# Of the kinds of algorithm in the ranking: the deep ones in blue, and orange.
OF_KIND = {
    kind: Look(look.colour, (), marker, 1.1)
    for kind, look, marker in zip(
        KINDS,
        (KNOWN["powr"], SPARE[1], SPARE[0], KNOWN["ppo"], KNOWN["dqn"], KNOWN["a2c"]),
        "oPs^Dv",
        strict=True,
    )
}


def looks(algorithms: Iterable[str]) -> dict[str, Look]:
    """The look of each algorithm; those that the paper does not have share the spare ones."""
    algorithms, known = list(dict.fromkeys(algorithms)), {**KNOWN, "powr-greedy": GREEDY}
    others = [name for name in algorithms if name not in known]
    known |= {name: SPARE[i % len(SPARE)] for i, name in enumerate(others)}
    return {name: known[name] for name in algorithms}


def of_paper(tables: Sequence[pd.DataFrame], source: str) -> list[pd.DataFrame]:
    """What the paper's figures show: POWR, and the greedy policies of the baselines of a source.

    POWR acts by its sampled policy, which the authors evaluate. Beside baselines with the authors'
    settings its greedy policy is shown too, as an algorithm of its own, powr-greedy. The last table
    is summary.csv.
    """
    kind_of = dict(zip(tables[-1]["algorithm"], tables[-1]["kind"], strict=True))
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

    return [chosen(table) for table in tables]


def of_greedy(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """What the figures of another study show: the deterministic policies of all algorithms."""
    return [table[table["policy"] == "deterministic"] for table in tables]


def settings_note(summary: pd.DataFrame) -> str:
    """How many seeds a figure shows of which baselines, in a few words."""
    kinds = set(summary["kind"])
    sources = [SETTINGS[kind] for kind in DEEP_OF_SOURCE.values() if kind in kinds]
    baselines = f", baselines with {' and '.join(sources)}" if sources else ""
    pairs = summary.drop_duplicates(["environment", "algorithm"])
    missing = missing_note(pairs["seeds"], pairs["seeds_planned"])
    return f"{summary['seeds_planned'].iloc[0]} seeds{baselines}.{missing}"


def missing_note(finished: pd.Series, planned: pd.Series) -> str:
    missing, due = planned.sum() - finished.sum(), planned.sum()
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
    draw: Callable[..., Figure], tables: Iterable[pd.DataFrame], base: Path
) -> dict[Path, bytes]:
    """A figure of these tables in each format, by the path that ends so."""
    contents = {}
    with matplotlib.style.context(["default", STYLE]):
        figure = draw(*tables)
        for kind, metadata in METADATA.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            contents[base.with_name(f"{base.name}.{kind}")] = buffer.getvalue()
    return contents


def draw_files(
    module: Any, folder: Path, base: Path, choose: Callable[..., list[pd.DataFrame]] = list
) -> dict[Path, bytes]:
    """The figure of a module, from what is to be shown of the tables that it names."""
    tables = [read_table(folder / f"{table}.csv") for table in module.TABLES]
    return files(module.draw, choose(tables), base)


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
        base = (options.out_dir or folder) / stem
        module = importlib.import_module(f"suite.plots.{options.name}")
        if options.name not in OF_PAPER:
            return draw_files(module, folder, base)
        source = AUTHORS if options.authors else LIBRARY
        choose = partial(of_paper, source=source) if study.replication else of_greedy
        return draw_files(module, folder, base, choose)

    return write_result(parser.prog, make)
