"""Figure 2: timesteps until the return first reaches the threshold, one box per algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from suite.config import algorithm_name
from suite.plots import render
from suite.plots.render import FAINT, Look, looks
from suite.results.arrivals import FIRST

TABLES = ("runs", "summary")
BOX_HEIGHT = 0.6
POINTS_HEIGHT = 0.45  # seeds lie at different heights in this part of their row, so that ties show
FEWEST_FOR_A_BOX = 3


def draw(runs: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    look_of = looks(summary["algorithm"])
    planned = dict(iter(summary.groupby("environment", sort=False)))
    figure, panels = render.make_panels(list(planned), height=0.95 + 0.2 * len(look_of))
    for place, (panel, (environment, rows)) in enumerate(zip(panels, planned.items(), strict=True)):
        threshold = rows["threshold"].iloc[0]
        times = runs[(runs["environment"] == environment) & (runs["threshold"] == threshold)]
        draw_panel(panel, times, rows.groupby("algorithm")["timesteps"].first(), look_of)
        panel.set_xlabel(f"timesteps to a return of {render.number(threshold)}")
        first_in_row = place % render.PANELS_PER_ROW == 0
        names = [algorithm_name(name) for name in look_of] if first_in_row else []
        panel.set_yticks(range(len(names)), names)
    settings = render.settings_note(summary)
    render.add_note(figure, f"Points: seeds; boxes: quartiles; grey: end of training. {settings}")
    return figure


def draw_panel(
    panel: Axes, times: pd.DataFrame, budgets: pd.Series, look_of: dict[str, Look]
) -> None:
    """One row per algorithm, up to the end of the longest training and, beyond it, never."""
    panel.set_ylim(len(look_of) - 0.5, -0.5)
    earliest = np.nanmin([times[FIRST].min(), budgets.min()])
    never = render.set_time_axis(panel, earliest, budgets.max(), has_never=True)
    panel.grid(visible=True, axis="x")
    panel.tick_params(axis="y", length=0)
    for row, (algorithm, look) in enumerate(look_of.items()):
        runs = times[times["algorithm"] == algorithm][FIRST].to_numpy(dtype=float)
        if algorithm not in budgets or not runs.size:
            text = "no run" if algorithm in budgets else "not run here"
            height = 1 - (row + 0.5) / len(look_of)
            centered: dict[str, Any] = {"ha": "center", "va": "center", "color": FAINT}
            panel.text(0.4, height, text, transform=panel.transAxes, **centered)
            continue
        panel.plot(budgets[algorithm], row, "|", color="0.6", ms=8, mew=0.8, label="budget")
        if len(runs) >= FEWEST_FOR_A_BOX and np.isfinite(runs).all():
            draw_box(panel, row, algorithm, runs, look)
        draw_seeds(panel, row, algorithm, runs, never, look)


def draw_box(panel: Axes, row: int, algorithm: str, runs: np.ndarray, look: Look) -> None:
    """Quartiles and median, in a line from the first run to the last."""
    low, quarter, middle, three_quarters, high = np.quantile(runs, (0, 0.25, 0.5, 0.75, 1))
    panel.hlines(row, low, high, color=look.colour, lw=0.8)
    box: dict[str, Any] = {"color": look.colour, "alpha": 0.25, "label": algorithm}
    panel.barh(row, three_quarters - quarter, BOX_HEIGHT, quarter, **box)
    panel.vlines(middle, row - BOX_HEIGHT / 2, row + BOX_HEIGHT / 2, color=look.colour, lw=1.5)


def draw_seeds(
    panel: Axes, row: float, algorithm: str, runs: np.ndarray, never: float, look: Look
) -> None:
    """One point per run; a hollow one at "never" for a run that does not reach the threshold."""
    heights = row + POINTS_HEIGHT * (np.arange(len(runs)) - (len(runs) - 1) / 2) / len(runs)
    reached = np.isfinite(runs)
    mark: dict[str, Any] = {"linestyle": "none", "color": look.colour, "ms": 2.8, "zorder": 3}
    filled: dict[str, Any] = {"mew": 0.3, "mec": "white", "label": algorithm}
    panel.plot(runs[reached], heights[reached], "o", **mark, **filled)
    for height in heights[~reached]:
        panel.plot(never, height, "o", mew=0.6, mfc="white", label=f"{algorithm} never", **mark)
