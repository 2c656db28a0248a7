"""The picture of the answer: timesteps to threshold of POWR, and of each baseline at its best.

POWR acts by the sampled policy, which its authors evaluate, and a baseline by its greedy policy
under the settings that serve it best.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from suite.config import algorithm_name
from suite.config.models import POWR
from suite.plots import render
from suite.plots.render import SMALL, looks
from suite.plots.threshold_boxplots import draw_seeds
from suite.results.arrivals import FIRST
from suite.results.ranking import best_settings, ratio, ratios

TABLES = ("runs", "summary")
ROW_HEIGHT = 0.29  # inches


def draw(runs: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    shown = best_settings(summary)
    key = ["environment", "algorithm", "policy", "threshold"]
    times = runs.merge(shown[[*key, "class"]], on=key)
    environments = list(dict.fromkeys(shown["environment"]))
    height = 0.95 + ROW_HEIGHT * shown["class"].nunique()
    figure, panels = render.make_panels(environments, height)
    last = shown["timesteps"].max()
    earliest = times[FIRST].fillna(last).min() / 2
    for panel, environment in zip(panels, environments, strict=True):
        rows = shown[shown["environment"] == environment]
        never = render.set_time_axis(panel, earliest, last, has_never=True)
        draw_panel(panel, rows, times[times["environment"] == environment], never)
        panel.set_title("")
        title = f"{environment}, return {render.number(rows['threshold'].iloc[0])}"
        panel.set_title(title, loc="left", x=0)
    figure.suptitle(headline(shown), x=0.01, ha="left")
    figure.supxlabel("timesteps to threshold (log scale): further left is better")
    return figure


def draw_panel(panel: Axes, rows: pd.DataFrame, times: pd.DataFrame, never: float) -> None:
    """One row per class, its name and settings above its points."""
    look_of = looks(rows["class"])
    for height, row in enumerate(rows.to_dict("records")):
        name, look = row["class"], look_of[row["class"]]
        detail = lead(rows) if row["kind"] == POWR else row["settings"]
        text = ", ".join(filter(None, (algorithm_name(name), detail)))
        at_axis: dict[str, Any] = {"transform": panel.get_yaxis_transform(), "va": "center"}
        at_axis["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        bold = "bold" if row["kind"] == POWR else "normal"
        panel.text(0, height - 0.4, text, c=look.colour, size=SMALL, weight=bold, **at_axis)
        runs = times[times["class"] == name][FIRST].to_numpy(dtype=float)
        draw_seeds(panel, height, name, runs, never, look)
        if np.isfinite(row["median"]):
            place, bar = [row["median"]] * 2, [height - 0.26, height + 0.26]
            panel.plot(place, bar, color=look.colour, lw=1.4, label=f"{name} median")
            if row["kind"] == POWR:
                panel.axvline(row["median"], color=look.colour, lw=0.7, dashes=(2, 2), zorder=1)
    panel.set_ylim(len(rows) - 0.6, -0.7)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(visible=True, axis="x")


def lead(rows: pd.DataFrame) -> str:
    times, baseline = ratio(rows)
    return f"{times:.2g}× sooner than {algorithm_name(baseline)}" if times > 1 else ""


def headline(shown: pd.DataFrame) -> str:
    times = ratios(shown)
    sooner = sum(each > 1 for each in times)
    if sooner < len(times):
        return f"POWR reaches {sooner} of {len(times)} thresholds before any baseline"
    least = math.floor(10 * min(times)) / 10
    return f"POWR's median run reaches every threshold at least {least:g} times sooner"
