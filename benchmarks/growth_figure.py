"""Time and memory against n in log-log scale, with the fitted exponents, from growth.csv."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from suite.plots import render
from suite.plots.style import COLUMN_WIDTH, Look

TIMES = {
    "seconds": ("fit and {steps} PMD steps", Look("#B2182B", (), "o", 1.5)),
    "fit": ("fit", Look("#1E88E5", (5, 1.5), "s", 1.0)),
    "step": ("one PMD step", Look("#000000", (1, 1), "^", 1.0)),
}
MEMORY = {
    "peak MiB": ("peak of the process", Look("#B2182B", (), "o", 1.5)),
    "MiB above base": ("above its base", Look("#1E88E5", (5, 1.5), "s", 1.0)),
}


def draw(growth: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(COLUMN_WIDTH, 2.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_panel(left, growth, TIMES, "time of one core in seconds")
    draw_panel(right, growth, MEMORY, "memory in MiB")
    return figure


def draw_panel(
    panel: Axes, growth: pd.DataFrame, curves: dict[str, tuple[str, Look]], label: str
) -> None:
    """Medians with their ranges, and the power law fitted to them."""
    n, steps = growth["n"].to_numpy(), growth["steps"].iloc[0]
    for column, (name, look) in curves.items():
        median = growth[column].to_numpy()
        slope, intercept = np.polyfit(np.log(n), np.log(median), 1)
        panel.plot(n, np.exp(intercept) * n**slope, **look.line)
        panel.errorbar(
            n,
            median,
            yerr=[median - growth[f"{column} min"], growth[f"{column} max"] - median],
            color=look.colour,
            ls="",
            marker=look.marker,
            ms=3.5,
            lw=0.8,
            label=f"{name.format(steps=steps)}: $n^{{{slope:.2f}}}$",
        )
    largest = growth[next(iter(curves))].iloc[-1]
    panel.plot(n, largest * n / n[-1], color="0.6", lw=0.6, zorder=1, label="linear")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(n, [render.number(size) for size in n], rotation=30)
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=99))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: render.number(value)))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_xlabel("transitions n")
    panel.set_title(label, loc="left")
    panel.grid(visible=True)
    low, high = panel.get_ylim()
    panel.set_ylim(low, high * (high / low) ** 0.4)  # room for the legend
    panel.legend(loc="upper left")


def files(csv: Path) -> dict[Path, bytes]:
    """The figure in every format, to be written beside its table."""
    return render.files(draw, pd.read_csv(csv), csv.with_suffix(""))
