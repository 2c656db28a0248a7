"""The ranking: timesteps to the threshold of every algorithm, of every kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from suite.config import algorithm_name
from suite.config.models import DEEP_OF_SOURCE, KINDS, POWR, TEXTBOOK
from suite.plots import render
from suite.plots.render import FAINT, OF_KIND, Look, number
from suite.results.ranking import CLOCK, SETTINGS, duration_text

TABLES = ("ranking",)
WIDTH = 6.6  # inches: the names and two columns of numbers need room beside the axis
ROW_HEIGHT = 0.155
GAP = 0.45  # between two kinds, in rows
MARK: dict[str, Any] = {"ms": 5, "mec": "white", "mew": 0.5}
LEFT_OF: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "color": FAINT}
LABELS = {
    POWR: "POWR, best-evidenced settings",
    TEXTBOOK: "classical baselines",
    **{kind: f"deep, {SETTINGS[kind]}" for kind in DEEP_OF_SOURCE.values()},
}


def draw(table: pd.DataFrame, columns: int = 1) -> Figure:
    groups = list(table.groupby("environment", sort=False))
    tall = [len(rows) + GAP * (rows["kind"].nunique() - 1) for _, rows in groups]
    heights = [max(tall[first : first + columns]) for first in range(0, len(groups), columns)]
    size = (columns * WIDTH, ROW_HEIGHT * sum(heights) + 0.62 * len(heights) + 0.75)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).flatten()
    panels, spare = grid[: len(groups)], grid[len(groups) :]
    for panel in spare:
        panel.remove()
    low = table["first_evaluation"].min()
    for panel, (environment, rows), height in zip(panels, groups, tall, strict=True):
        panel.set_xscale("log")
        panel.set_xlim(0.5 * low, 2.2 * table["timesteps"].max())
        panel.set_ylim(height - 0.3, -0.7)
        draw_panel(panel, environment, rows)
    for panel in panels[-columns:]:
        panel.set_xlabel("timesteps to threshold: further left is better")
    handles = [
        Line2D([], [], marker=look.marker, label=LABELS.get(kind, kind), **look.line, **MARK)
        for kind, look in OF_KIND.items()
        if kind in set(table["kind"])
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    clock = ", or (≤) of a clock" if CLOCK in set(table["measured_by"]) else ""
    render.add_note(
        figure,
        f"Medians and ranges of {table['seeds_planned'].max()} seeds; arrows: beyond the end of "
        f"training; time: CPU until then{clock}.",
    )
    return figure


def draw_panel(panel: Axes, environment: str, rows: pd.DataFrame) -> None:
    """One row per algorithm, the kinds apart, the earliest of each kind first."""
    panel.xaxis.set_major_locator(LogLocator(numticks=99))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panel.grid(visible=True, axis="x")
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    # Without a median: by how many runs reach the threshold; without runs: last.
    columns = ["median", "n_reached", "seeds"]
    ordered = rows.astype({"median": float}).sort_values(columns, ascending=[True, False, False])
    finding = f"{environment}, return {number(rows['threshold'].iloc[0])}"
    if ordered["median"].notna().any():
        finding += f": {name_of(ordered.iloc[0])} is quickest"
    panel.set_title(finding, loc="left", fontweight="bold")
    place = 0.0
    for kind in KINDS:
        of_kind = ordered[ordered["kind"] == kind].to_dict("records")
        for row in of_kind:
            draw_row(panel, place, row, OF_KIND[kind])
            place += 1
        place += GAP if of_kind else 0
    for x, head in ((1.13, "median"), (1.26, "time")):
        write(panel, x, 1.01, head, FAINT, va="bottom", fontsize=6, transform=panel.transAxes)


def name_of(row: Mapping[str, Any]) -> str:
    greedy = ", greedy" if row["kind"] == POWR else ""
    policy = ", sampled" if row["policy"] == "sampled" else greedy
    return algorithm_name(row["algorithm"].removesuffix("-authors")) + policy


def draw_row(panel: Axes, place: float, row: Mapping[str, Any], look: Look) -> None:
    name = name_of(row)
    write(panel, -0.012, place, name, look.colour)
    if not row["seeds"]:
        write(panel, 1.26, place, "no run", FAINT)
        return
    budget = row["timesteps"]
    every = row["n_reached"] == row["seeds"]
    if row["n_reached"]:
        begin, end = row["earliest"], row["latest"] if every else budget
        panel.plot([begin, end], [place, place], alpha=0.55, zorder=2, **look.line)
        panel.plot([begin, end], [place, place], "|", color=look.colour, ms=4, mew=1, zorder=3)
    if not every:
        draw_arrow(panel, place, budget, look.colour, hollow=not row["n_reached"])
    if math.isnan(row["median"]):
        write(panel, 1.13, place, f"> {budget:,.0f}", FAINT)
        write(panel, 1.26, place, f"> {duration_text(row['seconds_in_all'])}", FAINT)
    else:
        mark = {"color": look.colour, "label": name, "zorder": 4, **MARK}
        panel.plot(row["median"], place, look.marker, **mark)
        write(panel, 1.13, place, f"{row['median']:,.0f}", "0.15")
        bound = "≤ " if row["measured_by"] == CLOCK else ""
        write(panel, 1.26, place, bound + duration_text(row["seconds_to_threshold"]), "0.15")
    short = "" if every else f"{row['n_reached']} of {row['seeds']}"
    if row["seeds"] < row["seeds_planned"]:
        short = (short or f"{row['seeds']} {'seed' if row['seeds'] == 1 else 'seeds'}") + " so far"
    if short:
        first = row["earliest"] if row["n_reached"] else budget
        # Left of all that is drawn: right of it there may be no room.
        count = {"xytext": (-6, 0), "va": "center", "fontsize": 5.5, "zorder": 5, **LEFT_OF}
        panel.annotate(short, (first, place), **count)


def draw_arrow(panel: Axes, place: float, budget: float, colour: str, hollow: bool) -> None:
    """The truth lies beyond the end of training."""
    panel.plot(budget, place, "|", color=colour, ms=5, mew=1, zorder=3)
    look: dict[str, Any] = {"color": colour, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    look |= {"arrowstyle": "->" if hollow else "-|>", "mutation_scale": 6}
    panel.annotate("", (budget * 1.55, place), (budget, place), arrowprops=look, zorder=3)


def write(panel: Axes, x: float, place: float, text: str, colour: str, **other: Any) -> None:
    """Right-aligned at a place beside the axis."""
    options = {"va": "center", "fontsize": 6.5, "transform": panel.get_yaxis_transform(), **other}
    panel.text(x, place, text, ha="right", color=colour, **options)
