"""Figure 2: timesteps until the return first meets the threshold, one box per algorithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from suite.names import algorithm_name
from suite.plots import render
from suite.plots.render import Tables
from suite.plots.style import Look, looks
from suite.results import arrivals

BOX_HEIGHT = 0.55
POINTS_HEIGHT = 0.4  # seeds lie at different heights in this part of their row, so that ties show
FEWEST_FOR_A_BOX = 3


def draw(tables: Tables) -> Figure:
    look_of = looks(tables.algorithms)
    figure, panels = render.make_panels(tables.environments, height=1.0 + 0.2 * len(look_of))
    for place, (panel, environment) in enumerate(zip(panels, tables.environments, strict=True)):
        plan = tables.summary[tables.summary["environment"] == environment]
        threshold = plan["threshold"].iloc[0]
        here = tables.runs["environment"] == environment
        times = tables.runs[here & (tables.runs["threshold"] == threshold)]
        draw_panel(panel, times, plan, look_of, tables.curves["timestep"].min())
        panel.set_xlabel(f"timesteps to a return of {render.number(threshold)}")
        first_in_row = place % render.PANELS_A_ROW == 0
        names = [algorithm_name(name) for name in look_of] if first_in_row else []
        panel.set_yticks(range(len(names)), names)
    settings, seeds = render.settings_note(tables.summary), render.seeds_note(tables.summary)
    render.add_note(
        figure,
        f"{settings} First evaluation at or above the threshold, {seeds}. "
        "Points: seeds. Boxes, drawn if all seeds arrive: quartiles, median and range. Grey bars: "
        "end of training.",
    )
    return figure


def draw_panel(
    panel: Axes, times: pd.DataFrame, plan: pd.DataFrame, look_of: dict[str, Look], first: float
) -> None:
    """One row per algorithm, from the first evaluation to the end of the longest training."""
    budgets = plan.groupby("algorithm")["timesteps"].first()
    panel.set_ylim(len(look_of) - 0.5, -0.5)
    render.set_time_axis(panel, first, budgets.max())
    panel.grid(visible=True, axis="x")
    panel.tick_params(axis="y", length=0)
    for row, (algorithm, look) in enumerate(look_of.items()):
        runs = times[times["algorithm"] == algorithm][arrivals.FIRST].to_numpy(dtype=float)
        if algorithm not in budgets:
            write(panel, row, "not run here", np.empty(0))
        elif not runs.size:
            write(panel, row, "no run", runs)
        else:
            panel.plot(budgets[algorithm], row, "|", color="0.5", ms=9, mew=0.8, label="budget")
            draw_row(panel, row, algorithm, runs, look)


def draw_row(panel: Axes, row: int, algorithm: str, runs: np.ndarray, look: Look) -> None:
    arrived = np.isfinite(runs)
    heights = row + POINTS_HEIGHT * (np.arange(len(runs)) - (len(runs) - 1) / 2) / len(runs)
    thin = {"color": look.colour, "lw": 0.8}
    if len(runs) >= FEWEST_FOR_A_BOX and arrived.all():
        panel.boxplot(
            [runs],
            positions=[row],
            widths=BOX_HEIGHT,
            orientation="horizontal",
            whis=(0, 100),
            manage_ticks=False,
            patch_artist=True,
            label=algorithm,
            boxprops={"facecolor": look.colour, "alpha": 0.25, "edgecolor": look.colour},
            medianprops={"color": look.colour, "lw": 1.5},
            whiskerprops=thin,
            capprops=thin,
        )
    else:
        text = f"{arrived.sum()} of {len(runs)} seeds"
        write(panel, row, text if arrived.any() else f"reached by {text}", runs[arrived])
    mark: dict[str, Any] = {"marker": look.marker, "color": look.colour, "ms": 2.5, "mew": 0.3}
    mark |= {"mec": "white", "linestyle": "none", "label": algorithm, "zorder": 3}
    panel.plot(runs[arrived], heights[arrived], **mark)


def write(panel: Axes, row: int, text: str, arrived: np.ndarray) -> None:
    """In the place of the box: beside the points on the side with more room, or in the middle."""
    low, high = map(math.log, panel.get_xlim())
    place, side, shift = math.exp((low + high) / 2), "center", 0
    if arrived.size and math.log(arrived.min()) + math.log(arrived.max()) < low + high:
        place, side, shift = arrived.max(), "left", 5
    elif arrived.size:
        place, side, shift = arrived.min(), "right", -5
    look: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 6.5, "color": "0.2"}
    look |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
    panel.annotate(text, (place, row), xytext=(shift, 0), textcoords="offset points", **look)
