"""The theorems by numbers: inexact mirror descent, simulation lemma, estimation rate, kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from suite.plots import render
from suite.plots.render import COLUMN_WIDTH, KNOWN, Look

TABLES = ("inexact_pmd", "estimation", "exponents", "compatibility")
NOTE = (
    "Medians over 20 MDPs or seeds; bars: ranges; bands: to the worst. FrozenLake-v1 is slippery."
)

RED, BLUE, BLACK = KNOWN["powr"], KNOWN["ppo"], KNOWN["a2c"]
ERRORS = {
    "exact": ("exact action values", RED),
    "fixed": ("fixed error", BLUE),
    "decaying": ("error falling like 1/t", BLACK._replace(dashes=(5, 1.5, 1, 1.5))),
}
BOUNDS = {
    "error": ("measured", RED),
    "bound": ("bound by ‖(T − Tₙ)v‖", BLUE),
    "loose_bound": ("bound by ‖T − Tₙ‖", BLACK),
}
MODELS = {
    "FrozenLake-v1": ("FrozenLake", BLUE),
    "random": ("random", BLACK),
    "continuous": ("continuous", RED),
}
KERNELS = {
    "exponential, bandwidth 0.5": ("exponential", RED),
    "exponential, falling ridge": ("exponential, λₙ", RED._replace(dashes=(1, 1), marker="v")),
    "Gaussian, bandwidth 0.5": ("Gaussian 0.5", BLUE),
    "Gaussian, bandwidth 0.1": ("Gaussian 0.1", BLACK),
}
SMALLEST_GAP = 1e-6  # relative to the largest gap; smaller ones are not drawn

# Its label, its text in the legend, its look, and errors grouped by the number of transitions.
ErrorLine = tuple[str, str, Look, Any]


def draw(
    inexact_pmd: pd.DataFrame,
    estimation: pd.DataFrame,
    exponents: pd.DataFrame,
    compatibility: pd.DataFrame,
) -> Figure:
    figure = Figure(figsize=(COLUMN_WIDTH, 5.0), layout="constrained")
    top, bottom = figure.subplots(2, 3)
    for panel, (model, rows) in zip(top, inexact_pmd.groupby("model", sort=False), strict=True):
        draw_descents(panel, rows)
        panel.set_title(model, loc="left")
    top[0].set_ylabel("J(optimum) − J after T steps")
    bound = Line2D([], [], color="0.3", lw=0.9, ls=":", label="bound of Theorem 7")
    handles = [*(Line2D([], [], label=name, **look.line) for name, look in ERRORS.values()), bound]
    beyond = (inexact_pmd["gaps"] > inexact_pmd["printed_bounds"]).any()
    beyond |= (estimation["error"] > estimation["bound"]).any()
    finding = "" if beyond else "Every measured gap and error stays below its bound"
    legend: dict[str, Any] = {"loc": "outside upper center", "ncols": 4, "title": finding}
    legend["title_fontproperties"] = {"size": rcParams["figure.titlesize"], "weight": "bold"}
    figure.legend(handles=handles, **legend)
    draw_errors(bottom[0], "simulation lemma", lemma_lines(estimation))
    draw_errors(bottom[1], "estimation rate n⁻ᵅ", rate_lines(estimation, exponents))
    draw_errors(bottom[2], "kernels and norms", kernel_lines(compatibility))
    bottom[0].set_ylabel("largest error of q")
    sizes = sorted(compatibility["n"].unique())
    bottom[2].set_xticks(sizes, [render.number(n) for n in sizes])
    for letter, panel in zip("abcdef", figure.axes, strict=True):
        panel.set_title(f"({letter}) {panel.get_title(loc='left')}", loc="left")
        panel.grid(visible=True, axis="y")
    render.add_note(figure, NOTE)
    return figure


def draw_descents(panel: Axes, rows: pd.DataFrame) -> None:
    """Median and worst gap over the instances, and the median of the theorem's bounds."""
    panel.set_xscale("log")
    panel.set_yscale("log")
    lowest = SMALLEST_GAP * rows["gaps"].max()
    for errors, (_, look) in ERRORS.items():
        by_step = rows[rows["errors"] == errors].groupby("step")
        gaps = by_step["gaps"].agg(["median", "max"]).clip(lower=lowest / 100)
        median, worst = gaps["median"], gaps["max"]
        panel.fill_between(median.index, median, worst, color=look.colour, alpha=0.15, lw=0)
        panel.plot(median.index, median, ms=3, mew=0, label=errors, **look.line)
        bound = by_step["printed_bounds"].median()
        panel.plot(bound.index, bound, color=look.colour, lw=0.9, ls=":", label=f"{errors} bound")
    panel.set_ylim(lowest, 3 * rows["printed_bounds"].max())
    panel.set_xlabel("mirror descent steps T")


def lemma_lines(estimation: pd.DataFrame) -> Iterator[ErrorLine]:
    by_size = estimation[estimation["model"] == "FrozenLake-v1"].groupby("n")
    for column, (name, look) in BOUNDS.items():
        yield column, name, look, by_size[column]


def rate_lines(estimation: pd.DataFrame, exponents: pd.DataFrame) -> Iterator[ErrorLine]:
    fitted = exponents.set_index("model")
    for model, (name, look) in MODELS.items():
        row = fitted.loc[model]
        text = f"{name}: α = {row['exponent']:.2f} ± {(row['high'] - row['low']) / 2:.2f}"
        yield model, text, look, estimation[estimation["model"] == model].groupby("n")["error"]


def kernel_lines(compatibility: pd.DataFrame) -> Iterator[ErrorLine]:
    for kernel, (name, look) in KERNELS.items():
        rows = compatibility[compatibility["kernel"] == kernel]
        text = f"{name}: ‖Tₙ‖ ≤ {rows['norm'].max():.3g}"
        yield kernel, text, look, rows.groupby("n")["error"]


def draw_errors(panel: Axes, title: str, lines: Iterable[ErrorLine]) -> None:
    """Medians over seeds with bars of their ranges, a legend above them and room made for it."""
    handles = []
    for place, (label, name, look, by_size) in enumerate(lines):
        median, low, high = by_size.median(), by_size.min(), by_size.max()
        sizes = median.index * 1.05**place  # beside each other, so that the bars can be told apart
        panel.vlines(sizes, low, high, color=look.colour, lw=0.7)
        mark = {"marker": look.marker, "ms": 3, "mew": 0, "label": label, **look.line}
        panel.plot(sizes, median, **mark)
        handles.append(Line2D([], [], label=name, **look.line))
    panel.set_title(title, loc="left")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("transitions n")
    panel.xaxis.set_minor_formatter(NullFormatter())
    low, high = panel.get_ylim()
    panel.set_ylim(low, high * (high / low) ** 0.4)
    small: dict[str, Any] = {"fontsize": 5.5, "handlelength": 2.2, "borderpad": 0}
    panel.legend(handles=handles, loc="upper left", labelspacing=0.25, **small)
