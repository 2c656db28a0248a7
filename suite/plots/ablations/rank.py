"""What the rank of the model costs: error of the action values, and timesteps to the threshold."""

from __future__ import annotations

import math
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from suite.ablations.tables import median_time
from suite.plots.ablations.heat_map import setting
from suite.plots.render import add_note, number
from suite.plots.style import COLUMN_WIDTH, Look
from suite.plots.training_curves import line_options

LOOKS = {
    ("subset", 1e-9): Look("#B2182B", (), "o", 1.4),
    ("subset", 1e-6): Look("#EF8A62", (5, 1.5, 1, 1.5), "^", 1.0),
    ("low_rank", 1e-9): Look("#1E88E5", (5, 1.5), "s", 1.0),
    ("low_rank", 1e-6): Look("#000000", (1, 1), "D", 1.0),
}
ASIDE = {"subset": 0.96, "low_rank": 1.04}  # points of the two methods beside each other
ABOVE = {"subset": 5, "low_rank": 12}  # points of print from the end of training to the count
NAMES = {"subset": "chosen pairs", "low_rank": "low-rank space"}


class Tables(NamedTuple):
    rank: pd.DataFrame
    rank_error: pd.DataFrame


def draw(tables: Tables) -> Figure:
    figure = Figure(figsize=(COLUMN_WIDTH, 2.5), layout="constrained")
    panels = figure.subplots(1, 3)
    errors, runs = tables.rank_error, tables.rank
    transitions = number(errors["transitions"].iloc[0])
    for (method, regularization), table in errors.groupby(["method", "regularization"]):
        look = LOOKS[method, regularization]
        label = f"{NAMES[method]}, λ = {setting(regularization)}"
        draw_errors(panels[0], table, "error", look, label)
        draw_errors(panels[1], table, "other_greedy", look, label)
    tuned = errors["regularization"].min()
    for method, table in runs.groupby("method"):
        draw_times(panels[2], table, LOOKS[method, tuned], method)
    # Room for the counts above the end of training.
    panels[2].set_ylim(
        0.8 * runs[["reached", "timesteps"]].min(axis=None), 1.8 * runs["timesteps"].max()
    )
    panels[0].set_yscale("log")
    panels[0].set_title("relative error of q")
    panels[1].set_title("other greedy action")
    panels[1].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    panels[1].set_ylim(bottom=0)
    panels[2].set_title(f"timesteps to {number(runs['threshold'].iloc[0])}")
    for panel in panels:
        set_rank_axis(panel, sorted(runs["max_rank"].unique()))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    add_note(
        figure,
        "MountainCar-v0. Left: largest error of the action values against the exact solve on the "
        f"same {transitions} transitions, relative to the largest value; middle: share of states "
        f"whose best action differs; medians and ranges over {errors['seed'].nunique()} seeds. "
        f"Right: full runs with λ = {setting(tuned)}, {runs['seed'].nunique()} seeds, hollow at "
        "the end of training if never, and how many arrived.",
    )
    return figure


def draw_errors(panel: Axes, table: pd.DataFrame, column: str, look: Look, label: str) -> None:
    by_rank = table.groupby("max_rank")[column]
    low, median, high = by_rank.min(), by_rank.median(), by_rank.max()
    panel.fill_between(median.index, low, high, color=look.colour, alpha=0.15, lw=0)
    panel.plot(median.index, median, label=label, **line_options(look))


def draw_times(panel: Axes, runs: pd.DataFrame, look: Look, label: str) -> None:
    """Medians joined where there is one; a seed that never arrived is hollow, at its budget."""
    medians = {rank: median_time(group) for rank, group in runs.groupby("max_rank")}
    there = {rank: median for rank, median in medians.items() if math.isfinite(median)}
    panel.set_yscale("log")
    for rank, group in runs.groupby("max_rank"):
        panel.annotate(
            f"{group['reached'].count()} of {len(group)}",
            (rank, group["timesteps"].max()),
            xytext=(0, ABOVE[label]),
            textcoords="offset points",
            ha="center",
            fontsize=5.5,
            color=look.colour,
        )
    panel.plot(there.keys(), there.values(), label=label, **line_options(look) | {"marker": ""})
    arrived = runs[runs["reached"].notna()]
    never = runs[runs["reached"].isna()]
    point = {"linestyle": "none", "marker": look.marker, "ms": 3, "color": look.colour}
    panel.plot(ASIDE[label] * arrived["max_rank"], arrived["reached"], **point)
    panel.plot(ASIDE[label] * never["max_rank"], never["timesteps"], **point | {"mfc": "white"})
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    panel.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))


def set_rank_axis(panel: Axes, ranks: list[int]) -> None:
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(FixedLocator(ranks))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("largest rank")
    panel.grid(visible=True, axis="y")
