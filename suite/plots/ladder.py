"""The ladder: timesteps to the threshold of every algorithm, of every kind, above the floor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from suite.config.kinds import DEEP, DEEP_OF_SOURCE, KINDS
from suite.names import algorithm_name
from suite.plots.render import add_note, number
from suite.plots.style import Look
from suite.results.cost import duration_text
from suite.results.ladder import CLOCK

TABLES = ("ladder",)
WIDTH = 6.6  # inches: the names and two columns of numbers need room beside the axis
ROW_HEIGHT = 0.155
GAP = 0.45  # between two kinds, in rows
FAINT = "0.55"
MARK: dict[str, Any] = {"ms": 5, "mec": "white", "mew": 0.5}
LEFT_OF: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "color": "0.35"}


COLOURS = ("#B2182B", "#882255", "#117733", "#332288", "#D98A00", "#000000")
LOOKS = {
    kind: Look(colour, (), marker, 1.1)
    for kind, colour, marker in zip(KINDS, COLOURS, "oPs^Dv", strict=True)
}


def draw(table: pd.DataFrame, columns: int = 1) -> Figure:
    groups = list(table.groupby("environment", sort=False))
    tall = [_rows_tall(rows) for _, rows in groups]
    heights = [max(tall[first : first + columns]) for first in range(0, len(groups), columns)]
    size = (columns * WIDTH, ROW_HEIGHT * sum(heights) + 0.62 * len(heights) + 0.75)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).flatten()
    panels, spare = grid[: len(groups)], grid[len(groups) :]
    for panel in spare:
        panel.remove()
    low = min([*table["first_evaluation"], *table["floor_low"].dropna()])
    limits = (0.5 * low, 2.2 * table["timesteps"].max())
    for panel, (environment, rows) in zip(panels, groups, strict=True):
        draw_panel(panel, environment, rows, limits)
    for panel in panels[-columns:]:
        panel.set_xlabel("timesteps to the threshold")
    kinds = [kind for kind in KINDS if kind in set(table["kind"])]
    handles = [
        Line2D([], [], marker=LOOKS[kind].marker, label=kind, **LOOKS[kind].line, **MARK)
        for kind in kinds
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    add_note(figure, note(table))
    return figure


def note(table: pd.DataFrame) -> str:
    seeds = table["seeds_planned"].max()
    text = (
        "First evaluation at or above the threshold, of the deterministic policy unless it says "
        f"sampled. Mark: median, line: range over {seeds} seeds; arrow: beyond the end of "
        "training. Grey: the fewest timesteps any learner needs to be sure, between its bounds. "
        f"{first_evaluations(table)} Time: median CPU time of training until then"
    )
    if (table["measured_by"] == CLOCK).any():
        text += "; with ≤ by the clock of a shared core"
    return text + "."


def first_evaluations(table: pd.DataFrame) -> str:
    """Where evaluation begins: that of deep networks may begin later."""
    deep = table["kind"].isin((DEEP, *DEEP_OF_SOURCE.values()))
    first = table.groupby(deep)["first_evaluation"].min()
    later = f", of deep networks at {first[True]}" if first.nunique() > 1 else ""
    return f"The first evaluation is at {first.min()} timesteps{later}."


def draw_panel(
    panel: Axes, environment: str, rows: pd.DataFrame, limits: tuple[float, float]
) -> None:
    """One row per algorithm, the kinds apart, the earliest of each kind first."""
    threshold = rows["threshold"].iloc[0]
    panel.set_title(f"{environment}, return {number(threshold)}", loc="left", fontweight="bold")
    set_axis(panel, limits, _rows_tall(rows))
    draw_floor(panel, rows.iloc[0])
    place = 0.0
    for kind in KINDS:
        own = rows[rows["kind"] == kind]
        if own.empty:
            continue
        for row in in_order(own):
            draw_row(panel, place, row, LOOKS[kind])
            place += 1
        place += GAP
    for x, head in ((1.13, "median"), (1.26, "time")):
        write(panel, x, 1.01, head, FAINT, va="bottom", fontsize=6, transform=panel.transAxes)


def in_order(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The earliest median first; those without one by how many runs arrive, no runs last."""
    columns = ["median", "n_reached", "seeds"]
    ordered = rows.astype({"median": float}).sort_values(columns, ascending=[True, False, False])
    return ordered.to_dict("records")


def set_axis(panel: Axes, limits: tuple[float, float], rows_tall: float) -> None:
    panel.set_xscale("log")
    panel.set_xlim(*limits)
    panel.set_ylim(rows_tall - 0.3, -0.7)
    panel.xaxis.set_major_locator(LogLocator(numticks=99))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: timesteps(value)))
    panel.grid(visible=True, axis="x")
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)


def draw_floor(panel: Axes, row: Mapping[str, Any]) -> None:
    """A line at the floor, or a band between its bounds; no learner can be sure left of it."""
    low, high = row["floor_low"], row["floor_high"]
    if pd.isna(low):
        return
    panel.axvspan(panel.get_xlim()[0], low, color="0.95", lw=0, zorder=0)
    panel.axvspan(low, high, color="0.82", lw=0, zorder=0, label="floor")
    panel.axvline(low, color="0.45", lw=0.8, dashes=(3, 2), zorder=1)
    text = timesteps(low) if low == high else f"{timesteps(low)} to {timesteps(high)}"
    look = {"xytext": (-2, 0), "va": "bottom", "rotation": 90, "fontsize": 6, **LEFT_OF}
    panel.annotate(f"floor: {text}", (low, 0.03), xycoords=panel.get_xaxis_transform(), **look)


def draw_row(panel: Axes, place: float, row: Mapping[str, Any], look: Look) -> None:
    write(panel, -0.012, place, _name(row), look.colour)
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
    arrives = not math.isnan(row["median"])
    if arrives:
        mark = {"color": look.colour, "label": _name(row), "zorder": 4, **MARK}
        panel.plot(row["median"], place, look.marker, **mark)
    median = timesteps(row["median"]) if arrives else f"> {timesteps(budget)}"
    write(panel, 1.13, place, median, "0.15" if arrives else FAINT)
    write(panel, 1.26, place, _time(row, arrives), "0.15" if arrives else FAINT)
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


def timesteps(count: float) -> str:
    return f"{count:,.0f}"


def _name(row: Mapping[str, Any]) -> str:
    sampled = ", sampled" if row["policy"] == "sampled" else ""
    return algorithm_name(row["algorithm"]) + sampled


def _time(row: Mapping[str, Any], arrives: bool) -> str:
    if not arrives:
        return f"> {duration_text(row['seconds_in_all'])}"
    bound = "≤ " if row["measured_by"] == CLOCK else ""
    return bound + duration_text(row["seconds_to_threshold"])


def _rows_tall(rows: pd.DataFrame) -> float:
    return len(rows) + GAP * (rows["kind"].nunique() - 1)
