"""choices.pdf: timesteps to the threshold with each choice of OptimisticPOWR undone alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from suite.plots.render import PANELS_PER_ROW, add_note, make_panels, missing_note, number

TABLES = ("ablations",)
COLOUR = "#882255"  # of OptimisticPOWR
UNDONE = "#33415C"
FIRST = 10  # where the axes of time begin
BEYOND = 0.32  # how far right of the budget "never" stands, as a share of the axis
SPREAD = 0.5  # of a row, over which its seeds are spread


def arrivals_of(cell: Any) -> list[float]:
    """The timesteps in a cell, which pandas has read as one number where no cell has two."""
    return [] if pd.isna(cell) else [float(timestep) for timestep in str(cell).split()]


def draw(table: pd.DataFrame) -> Figure:
    remark = "First row: OptimisticPOWR with default settings; each other row changes what it says."
    return draw_panels(table, 1.75, draw_rows, remark)


def draw_panels(
    table: pd.DataFrame, height: float, draw_rows: Callable[..., None], remark: str
) -> Figure:
    """A panel per environment, with a note that ends with the remark and the missing runs."""
    groups = dict(list(table.groupby("environment", sort=False)))
    figure, panels = make_panels(list(groups), height)
    for place, (panel, rows) in enumerate(zip(panels, groups.values(), strict=True)):
        budget = rows["timesteps"].iloc[0]
        never = budget * (budget / FIRST) ** BEYOND
        threshold = number(rows["threshold"].iloc[0])
        panel.set_title(f"{panel.get_title()}\nthreshold {threshold}", fontsize=7)
        set_time_axis(panel, budget, never)
        panel.axvline(budget, color="0.6", lw=0.7, dashes=(3, 2))
        panel.grid(visible=True, axis="x")
        panel.tick_params(axis="y", length=0)
        draw_rows(panel, rows, never, labelled=place % PANELS_PER_ROW == 0)
    add_note(
        figure,
        "Timesteps to the first evaluation at the threshold: further left is better. A dot is a "
        "seed, a bar the median over seeds. A hollow dot is a seed that never arrived within its "
        f"budget, the dashed line. {remark}{missing_note(table['seeds'], table['seeds_planned'])}",
    )
    return figure


def draw_rows(panel: Axes, rows: pd.DataFrame, never: float, labelled: bool) -> None:
    panel.set_yticks(range(len(rows)), rows["change"] if labelled else [""] * len(rows))
    panel.set_ylim(len(rows) - 0.5, -0.5)
    for place, row in enumerate(rows.itertuples()):
        colour = COLOUR if row.ablation == "none" else UNDONE
        draw_row(panel, place, row, never, colour)


def set_time_axis(panel: Axes, budget: float, never: float) -> None:
    """Timesteps in log scale up to the budget, and "never" beyond it."""
    panel.set_xscale("log")
    panel.set_xlim(0.8 * FIRST, 1.4 * never)
    decades = [10**k for k in range(1, 7) if 10**k <= budget]
    labels = [f"$10^{{{len(str(decade)) - 1}}}$" for decade in decades]
    panel.set_xticks([*decades, never], [*labels, "never"])
    between = [i * decade for decade in decades for i in range(2, 10) if i * decade <= budget]
    panel.set_xticks(between, [""] * len(between), minor=True)


def draw_row(panel: Axes, place: float, row: Any, never: float, colour: str) -> None:
    if row.seeds == 0:
        middle = np.sqrt(np.prod(panel.get_xlim()))
        panel.text(middle, place, "no run yet", fontsize=5.5, color="0.5", ha="center", va="center")
        return
    arrived = arrivals_of(row.first_arrivals)
    heights = place + SPREAD * (np.arange(row.seeds) - (row.seeds - 1) / 2) / row.seeds
    dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "ms": 3, "mec": colour, "mew": 0.7}
    panel.plot(arrived, heights[: len(arrived)], mfc=colour, label="arrived", **dots)
    late = heights[len(arrived) :]
    panel.plot([never] * len(late), late, mfc="white", label="never", **dots)
    if not pd.isna(row.median_first_arrival):
        ends = (place - 0.36, place + 0.36)
        panel.plot([row.median_first_arrival] * 2, ends, color=colour, lw=1.0, label="median")
