"""multiverse.pdf: a specification curve of the ratio to the best baseline, one column each.

Above is the ratio of timesteps to threshold, below a dot for each setting of the combination.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from suite.plots.render import COLUMN_WIDTH, number

TABLES = ("universes",)
ROW_HEIGHT = 0.15  # inches
# By verdict: colour, marker, and whether it is filled.
LOOKS: dict[str, tuple[str, str, Any]] = {
    "holds": ("#B2182B", "o", "full"),
    "undecided": ("#8A8A8A", "o", "none"),
    "fails": ("#000000", "X", "full"),
}
SHADE = "#F2E2B6"
LABELS = {
    ("start", "fixed"): "fixed starts",
    ("start", "random"): "random starts",
    ("restart", False): "exponents summed over epochs",
    ("restart", True): "restart at each epoch",
    ("episodes_per_epoch", 1): "1 episode per epoch",
    ("episodes_per_epoch", 3): "3 episodes per epoch",
    ("mirror_steps", 1): "1 mirror step per epoch",
    ("mirror_steps", 10): "10 mirror steps per epoch",
    ("step_size", 0.1): "step size 0.1",
    ("step_size", 1.0): "step size 1",
}
NOT_CHOICES = {
    *("environment", "tier", "best_evidenced", "seeds", "seeds_planned", "verdict", "effect"),
    *("ratio", "low", "high", "bound", "best", "reached"),
}


def draw(table: pd.DataFrame) -> Figure:
    choices = [name for name in table if name not in NOT_CHOICES]
    rows = [(name, value) for name in choices for value in sorted(set(table[name].dropna()))]
    groups = {
        name: group.sort_values("ratio", ascending=False, na_position="last").reset_index()
        for name, group in table.groupby("environment", sort=False)
    }
    height = ROW_HEIGHT * len(rows)
    figure = Figure(figsize=(1.3 * COLUMN_WIDTH, 2.6 + height), layout="constrained")
    panels = figure.subplots(
        2,
        len(groups),
        squeeze=False,
        width_ratios=[len(group) + 3 for group in groups.values()],
        height_ratios=[2.0, height],
    )
    for (above, below), (environment, group) in zip(panels.T, groups.items(), strict=True):
        draw_ratios(above, group, environment)
        draw_settings(below, group, rows, labelled=below is panels[1, 0])
        for panel in (above, below):
            panel.set_xlim(-0.7, len(group) - 0.3)
            panel.set_xticks([])
            for column in np.flatnonzero(group["best_evidenced"]):
                panel.axvspan(column - 0.5, column + 0.5, color=SHADE, lw=0, zorder=0)
    panels[0, 0].set_ylabel("best baseline's timesteps\nover POWR's")
    handles = [
        Line2D([], [], color=colour, marker=marker, fillstyle=fill, ms=4, lw=0, label=verdict)
        for verdict, (colour, marker, fill) in LOOKS.items()
    ]
    handles.append(Line2D([], [], color=SHADE, lw=6, label="best-evidenced settings"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def draw_ratios(panel: Axes, group: pd.DataFrame, environment: str) -> None:
    """Above 1 POWR needs fewer timesteps. Intervals end at the axis where runs are unfinished."""
    panel.set_yscale("log")
    known = group[["ratio", "low", "high"]].replace([0, np.inf], np.nan)
    known = known.to_numpy()[known.notna().to_numpy()]
    bottom, top = min([*known, 0.5]) / 1.3, max([*known, 10]) * 1.3
    panel.set_ylim(bottom, top)
    for column, row in group.iterrows():
        colour, marker, fill = LOOKS[row["verdict"]]
        if not np.isfinite(row["ratio"]):
            look: dict[str, Any] = {"fontsize": 5, "color": "0.5", "rotation": 90, "ha": "center"}
            panel.text(column, 1.15, re.split("[:,]", row["effect"])[0], **look)
            continue
        ends = np.clip([row["low"], row["high"]], bottom, top)
        panel.plot([column] * 2, ends, color=colour, lw=0.7, alpha=0.7)
        panel.plot(column, row["ratio"], marker, color=colour, fillstyle=fill, ms=4, mew=0.8)
    panel.axhline(1, color="0.3", lw=0.7)
    counts = [f"{verdict} {(group['verdict'] == verdict).sum()}" for verdict in LOOKS]
    panel.set_title(f"{environment}\n{', '.join(counts)}", fontsize=7)
    ticks = [10.0**k for k in range(-2, 5) if panel.get_ylim()[0] <= 10.0**k <= panel.get_ylim()[1]]
    panel.set_yticks(ticks, [number(tick) for tick in ticks])
    panel.set_yticks([], minor=True)
    panel.grid(visible=True, axis="y")


def draw_settings(
    panel: Axes, group: pd.DataFrame, rows: list[tuple[str, Any]], labelled: bool
) -> None:
    for height, (name, value) in enumerate(rows):
        places = np.flatnonzero(group[name] == value)
        panel.plot(places, [height] * len(places), "o", color="0.2", ms=2.2, lw=0)
        if height and rows[height - 1][0] != name:
            panel.axhline(height - 0.5, color="0.85", lw=0.6)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    labels = [LABELS.get(row) or f"{row[1]} kernel" for row in rows]
    panel.set_yticks(range(len(rows)), labels if labelled else [""] * len(rows))
    panel.tick_params(axis="y", length=0)
