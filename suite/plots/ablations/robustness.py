"""Environments that the paper does not have: POWR's defaults against settings tuned by hand."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from suite.plots.render import PANELS_A_ROW, add_note, make_panels
from suite.plots.style import Look
from suite.plots.training_curves import THRESHOLD_LINE, draw_panel, line_options

LOOKS = {
    "powr": Look("#B2182B", (), "o", 1.5),
    "powr-default": Look("#1E88E5", (5, 1.5), "s", 1.0),
}
NAMES = {"powr": "tuned by hand", "powr-default": "default settings"}
OPTIMUM_LINE = {"color": "0.3", "lw": 0.8, "linestyle": ":"}


class Tables(NamedTuple):
    robustness: pd.DataFrame
    robustness_curves: pd.DataFrame


def draw(tables: Tables) -> Figure:
    runs = tables.robustness
    environments = runs["environment"].unique()
    facts = runs.groupby("environment")[["threshold", "optimal_return"]].first()
    figure, panels = make_panels(environments, height=2.0)
    for panel, environment in zip(panels, environments, strict=True):
        curves = tables.robustness_curves
        curves = curves[curves["environment"] == environment]
        threshold, optimum = facts.loc[environment]
        draw_panel(panel, curves, [threshold], LOOKS)
        if pd.notna(optimum):
            panel.axhline(optimum, label="optimum", **OPTIMUM_LINE)
    for panel in panels[::PANELS_A_ROW]:
        panel.set_ylabel("\n".join(filter(None, ["return", panel.get_ylabel()])))
    handles = [Line2D([], [], label=NAMES[name], **line_options(LOOKS[name])) for name in LOOKS]
    handles.append(Line2D([], [], label="threshold", **THRESHOLD_LINE))
    handles.append(Line2D([], [], label="exact optimum", **OPTIMUM_LINE))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    add_note(
        figure,
        f"Deterministic policy. Line: mean, band: minimum to maximum over "
        f"{runs['seed'].nunique()} seeds; exact returns where there is a transition table.",
    )
    return figure
