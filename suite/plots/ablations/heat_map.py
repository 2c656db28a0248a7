"""A heat map with its numbers: one cell a combination of two settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from suite.ablations.tables import median_time
from suite.plots.render import number

NOT_REACHED = "0.88"  # grey
LEAST_RATIO = 5.0  # between the darkest and the palest time, so that what is close looks alike
DARK = 0.55  # from this part of the colour scale on, white text is easier to read


def draw_times(panel: Axes, runs: pd.DataFrame, down: str, across: str) -> None:
    """Median timesteps to the threshold; where most seeds never get there, how many do."""

    def text(cell: pd.DataFrame) -> str:
        median, arrived = median_time(cell), int(cell["reached"].notna().sum())
        if math.isinf(median):
            return f"never\n({arrived} of {len(cell)})" if arrived else "never"
        return number(round(median)) + (
            "" if arrived == len(cell) else f"\n({arrived}/{len(cell)})"
        )

    draw_cells(panel, runs, down, across, median_time, text, "Reds", LogNorm, LEAST_RATIO)


def draw_returns(panel: Axes, runs: pd.DataFrame, down: str, across: str) -> None:
    """Mean return over seeds in the second half of training."""

    def mean(cell: pd.DataFrame) -> float:
        return float(cell["late_return"].mean())

    def text(cell: pd.DataFrame) -> str:
        value = mean(cell)
        return number(round(value, 2 if abs(value) < 10 else 0))

    draw_cells(panel, runs, down, across, mean, text, "Blues", Normalize)


def draw_cells(
    panel: Axes,
    runs: pd.DataFrame,
    down: str,
    across: str,
    value_of: Callable[[pd.DataFrame], float],
    text_of: Callable[[pd.DataFrame], str],
    colours: str,
    norm_class: type[Normalize],
    least_ratio: float = 1.0,
) -> None:
    rows, columns = sorted(runs[down].unique()), sorted(runs[across].unique())
    cells = {
        (i, j): runs[(runs[down] == row) & (runs[across] == column)]
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }
    values = np.full((len(rows), len(columns)), math.nan)
    for place, cell in cells.items():
        values[place] = value_of(cell)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (1.0, 1.0)
    high = max(high, least_ratio * low)
    norm = norm_class(low, high if high > low else low + 1)
    colour_map = matplotlib.colormaps[colours].with_extremes(bad=NOT_REACHED)
    shown = np.ma.masked_invalid(values)
    panel.pcolormesh(shown, cmap=colour_map, norm=norm, edgecolors="white", linewidth=1)
    for (i, j), cell in cells.items():
        dark = np.isfinite(values[i, j]) and norm(values[i, j]) > DARK
        panel.text(
            j + 0.5,
            i + 0.5,
            text_of(cell),
            ha="center",
            va="center",
            fontsize=6,
            linespacing=0.95,
            color="white" if dark else "black",
        )
    panel.set_xticks(np.arange(len(columns)) + 0.5, [setting(value) for value in columns])
    panel.set_yticks(np.arange(len(rows)) + 0.5, [setting(value) for value in rows])
    panel.tick_params(length=0)
    for spine in panel.spines.values():
        spine.set_visible(False)


def setting(value: Any) -> str:
    """A setting as a reader writes it: 1e-09 as 10⁻⁹, 0.005 as 0.005."""
    if 0 < value < 1e-2:
        exponent = round(math.log10(value))
        if value == float(f"1e{exponent}"):
            return f"$10^{{{exponent}}}$"
    return f"{value:g}"
