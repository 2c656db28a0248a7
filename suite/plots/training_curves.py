"""Figure 1: mean return over timesteps in log scale, with the range over seeds."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from suite.names import algorithm_name
from suite.plots import render
from suite.plots.render import Tables
from suite.plots.style import Look, looks

EVALUATIONS_A_MARKER = 10
MARKER: dict[str, Any] = {"markersize": 3, "markeredgewidth": 0}
THRESHOLD_LINE: dict[str, Any] = {"color": "0.3", "lw": 0.8, "dashes": (5, 3)}
# Where returns exceed the threshold by this factor, a linear axis would squash all others.
SQUASHING = 20


def draw(tables: Tables) -> Figure:
    figure, panels = render.make_panels(tables.environments, height=2.3)
    look_of = looks(tables.algorithms)
    for panel, environment in zip(panels, tables.environments, strict=True):
        curves = tables.curves[tables.curves["environment"] == environment]
        levels = tables.summary[tables.summary["environment"] == environment]["threshold"]
        if curves.empty:
            panel.text(0.5, 0.5, "no run", ha="center", transform=panel.transAxes)
        else:
            draw_panel(panel, curves, sorted(levels.unique()), look_of)
    for panel in panels[:: render.PANELS_A_ROW]:
        panel.set_ylabel(panel.get_ylabel() or "mean return")
    columns = 4 if max(map(len, look_of)) > 9 else 7
    figure.legend(handles=legend_handles(look_of), loc="outside upper center", ncols=columns)
    settings, seeds = render.settings_note(tables.summary), render.seeds_note(tables.summary)
    render.add_note(
        figure,
        f"{settings} Line: mean return, band: minimum to maximum over {seeds}. A line starts with "
        "the first evaluation and ends with training.",
    )
    return figure


def draw_panel(
    panel: Axes, curves: pd.DataFrame, thresholds: list[float], look_of: dict[str, Look]
) -> None:
    render.set_time_axis(panel, curves["timestep"].min(), curves["timestep"].max())
    for order, (algorithm, look) in enumerate(reversed(look_of.items())):
        curve = curves[curves["algorithm"] == algorithm]
        band: dict[str, Any] = {"color": look.colour, "alpha": 0.13, "lw": 0, "label": algorithm}
        panel.fill_between(curve["timestep"], curve["min"], curve["max"], **band)
        panel.plot(
            curve["timestep"],
            curve["mean"],
            label=algorithm,
            marker=look.marker,
            markevery=(2 * order, EVALUATIONS_A_MARKER),  # staggered: curves may coincide
            zorder=3 + order / 100,
            **look.line,
            **MARKER,
        )
    for threshold in thresholds:
        panel.axhline(threshold, zorder=2, **THRESHOLD_LINE)
        alone = len(thresholds) == 1
        side = "center" if alone else "bottom" if threshold == thresholds[-1] else "top"
        panel.annotate(
            render.number(threshold),
            (1.02, threshold),
            xycoords=panel.get_yaxis_transform(),
            va=side,
            fontsize=6.5,
            color=THRESHOLD_LINE["color"],
        )
    set_return_axis(panel, curves, thresholds)
    panel.set_xlabel("timesteps")
    panel.grid(visible=True, axis="y")


def set_return_axis(panel: Axes, curves: pd.DataFrame, thresholds: list[float]) -> None:
    """Linear, unless early returns are so low that the rest would be squashed."""
    low, high = min(curves["min"].min(), *thresholds), max(curves["max"].max(), *thresholds)
    scale = max(1.0, *map(abs, thresholds))
    if low < -SQUASHING * scale:
        linear = 10.0 ** math.ceil(math.log10(scale))
        panel.set_yscale("symlog", linthresh=linear, linscale=1.5)
        decades = range(round(math.log10(linear)), math.ceil(math.log10(-low)) + 1)
        ticks = [*(-(10.0**decade) for decade in decades), 0.0, linear]
        panel.yaxis.set_major_locator(FixedLocator(ticks))
        panel.yaxis.set_minor_locator(FixedLocator([]))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: render.number(value)))
        panel.set_ylim(1.3 * low, 1.3 * max(high, linear))
        panel.set_ylabel(f"mean return\n(log below {render.number(-linear)})")
    else:
        margin = 0.05 * (high - low)
        panel.set_ylim(low - margin, high + margin)


def legend_handles(look_of: dict[str, Look]) -> list[Line2D]:
    algorithms = [
        Line2D([], [], label=algorithm_name(name), marker=look.marker, **look.line, **MARKER)
        for name, look in look_of.items()
    ]
    return [*algorithms, Line2D([], [], label="threshold", **THRESHOLD_LINE)]
