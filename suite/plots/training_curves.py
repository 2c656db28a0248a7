"""Figure 1: mean return over timesteps in log scale, with the range over seeds of POWR."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from suite.config import algorithm_name
from suite.plots import render
from suite.plots.render import FAINT, Look, looks

TABLES = ("curves", "summary")
THRESHOLD_LINE: dict[str, Any] = {"color": FAINT, "lw": 0.8, "dashes": (5, 3)}
# Where returns exceed the threshold by this factor, a linear axis would squash all others.
SQUASHING = 20


def draw(curves: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    look_of = looks(summary["algorithm"])
    thresholds = {
        name: sorted(rows["threshold"].unique())
        for name, rows in summary.groupby("environment", sort=False)
    }
    figure, panels = render.make_panels(list(thresholds), height=2.2)
    for panel, (environment, levels) in zip(panels, thresholds.items(), strict=True):
        shown = curves[curves["environment"] == environment]
        if shown.empty:
            panel.text(0.5, 0.5, "no run", ha="center", transform=panel.transAxes)
        else:
            draw_panel(panel, shown, levels, look_of)
    for panel in panels[:: render.PANELS_PER_ROW]:
        panel.set_ylabel(panel.get_ylabel() or "mean return")
    settings = render.settings_note(summary)
    render.add_note(figure, f"Lines: means; band: minimum to maximum of POWR. {settings}")
    lines = {algorithm_name(name): look.line for name, look in look_of.items()}
    lines["threshold"] = THRESHOLD_LINE
    handles = [Line2D([], [], label=name, **line) for name, line in lines.items()]
    places: dict[str, Any] = {"loc": "outside upper center", "ncols": 7, "columnspacing": 1.4}
    figure.legend(handles=handles, labelcolor="linecolor", handlelength=2.4, **places)
    return figure


def draw_panel(
    panel: Axes, curves: pd.DataFrame, thresholds: list[float], look_of: dict[str, Look]
) -> None:
    render.set_time_axis(panel, curves["timestep"].min(), curves["timestep"].max())
    for order, (algorithm, look) in enumerate(reversed(look_of.items())):
        curve = curves[curves["algorithm"] == algorithm]
        if algorithm == "powr":  # more than one band could not be told apart
            band: dict[str, Any] = {"color": look.colour, "alpha": 0.2, "lw": 0}
            low_high = curve["min"], curve["max"]
            panel.fill_between(curve["timestep"], *low_high, label=algorithm, **band)
        zorder = 3 + order / 100
        panel.plot(curve["timestep"], curve["mean"], label=algorithm, zorder=zorder, **look.line)
    for threshold in thresholds:
        panel.axhline(threshold, zorder=2, label="threshold", **THRESHOLD_LINE)
        alone = len(thresholds) == 1
        side = "center" if alone else "bottom" if threshold == thresholds[-1] else "top"
        at_end: dict[str, Any] = {
            "xycoords": panel.get_yaxis_transform(),
            "va": side,
            "color": FAINT,
        }
        panel.annotate(render.number(threshold), (1.02, threshold), **at_end)
    set_return_axis(panel, curves, thresholds)
    panel.set_xlabel("timesteps")
    panel.grid(visible=True, axis="y")


def set_return_axis(panel: Axes, curves: pd.DataFrame, thresholds: list[float]) -> None:
    """Linear, unless early returns are so low that the rest would be squashed."""
    low, high = min(curves["min"].min(), *thresholds), max(curves["max"].max(), *thresholds)
    scale = max(1.0, *map(abs, thresholds))
    if low >= -SQUASHING * scale:
        margin = 0.05 * (high - low)
        panel.set_ylim(low - margin, high + margin)
        return
    linear = 10.0 ** math.ceil(math.log10(scale))
    panel.set_yscale("symlog", linthresh=linear, linscale=1.5)
    decades = range(round(math.log10(linear)), math.ceil(math.log10(-low)) + 1)
    ticks = [*(-(10.0**decade) for decade in decades), 0.0, linear]
    panel.yaxis.set_major_locator(FixedLocator(ticks))
    panel.yaxis.set_minor_locator(FixedLocator([]))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: render.number(value)))
    panel.set_ylim(1.3 * low, 1.3 * max(high, linear))
    panel.set_ylabel(f"mean return\n(log below {render.number(-linear)})")
