"""planners.pdf: timesteps to the threshold of OptimisticPOWR's planner and of two others."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from extension.ablations.choices import COLOUR, draw_panels, draw_row
from suite.plots.render import KNOWN

TABLES = ("planners",)
COLOURS = {
    "mirror descent": COLOUR,
    "policy iteration": KNOWN["ppo"].colour,
    "value iteration": KNOWN["trpo"].colour,
}
OPTIMISM = {"on": "optimistic", "off": "not optimistic"}
GAP = 0.7  # between two groups, in rows


def draw(table: pd.DataFrame) -> Figure:
    remark = "Optimism values unvisited pairs at the best return seen so far."
    figure = draw_panels(table, 3.4, draw_groups, remark)
    handles = [Line2D([], [], color=colour, marker="o", lw=0, ms=4) for colour in COLOURS.values()]
    figure.legend(handles, list(COLOURS), loc="outside upper center", ncols=len(COLOURS))
    return figure


def draw_groups(panel: Axes, rows: pd.DataFrame, never: float, labelled: bool) -> None:
    top, centers, labels = 0.0, [], []
    for (rhythm, optimism), group in rows.groupby(["rhythm", "optimism"], sort=False):
        for place, row in enumerate(group.itertuples()):
            draw_row(panel, top + place, row, never, COLOURS[row.planner])
        centers.append(top + (len(group) - 1) / 2)
        labels.append(f"plans {rhythm} episodes,\n{OPTIMISM[optimism]}" if labelled else "")
        top += len(group) + GAP
        panel.axhline(top - (1 + GAP) / 2, color="0.85", lw=0.6)
    panel.set_yticks(centers, labels)
    panel.set_ylim(top - (1 + GAP) / 2, -(1 + GAP) / 2)
