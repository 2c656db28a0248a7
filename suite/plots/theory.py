"""The theorems by numbers: inexact mirror descent, simulation lemma, estimation rate, kernels."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from suite.plots import render
from suite.plots.style import COLUMN_WIDTH, Look

TABLES = ("inexact_pmd", "estimation", "exponents", "compatibility")
NOTE = (
    "Discount 0.9; FrozenLake-v1 is slippery. Lines: medians, bands: ranges over 20 random MDPs or "
    "seeds (a-c: from the median to the worst). (d) FrozenLake-v1. (e) α: mean over seeds of the "
    "slopes from n = 1,600 on, with its 95% interval. (f) Largest error within 40 mirror descent "
    "steps in the continuous MDP, and the largest norm seen; λ = 10⁻⁶, λₙ = 0.01/√n."
)

ERRORS = {
    "exact": ("exact action values", Look("#B2182B", (), "o", 1.4)),
    "fixed": ("fixed error", Look("#1E88E5", (5, 1.5), "s", 1.2)),
    "decaying": ("error falling like 1/t", Look("#000000", (5, 1.5, 1, 1.5), "^", 1.0)),
}
BOUNDS = {
    "error": ("measured", Look("#B2182B", (), "o", 1.4)),
    "bound": ("bound by ‖(T − Tₙ)v‖", Look("#1E88E5", (5, 1.5), "s", 1.0)),
    "loose_bound": ("bound by ‖T − Tₙ‖", Look("#000000", (1, 1), "^", 1.0)),
}
MODELS = {
    "FrozenLake-v1": ("FrozenLake", Look("#1E88E5", (5, 1.5), "s", 1.0)),
    "random": ("random", Look("#000000", (1, 1), "^", 1.0)),
    "continuous": ("continuous", Look("#B2182B", (), "o", 1.4)),
}
KERNELS = {
    "exponential, bandwidth 0.5": ("exponential", Look("#B2182B", (), "o", 1.4)),
    "exponential, falling ridge": ("exponential, λₙ", Look("#B2182B", (1, 1), "v", 1.0)),
    "Gaussian, bandwidth 0.5": ("Gaussian 0.5", Look("#1E88E5", (5, 1.5), "s", 1.0)),
    "Gaussian, bandwidth 0.1": ("Gaussian 0.1", Look("#000000", (1, 1), "^", 1.0)),
}
SMALLEST_GAP = 1e-6  # relative to the largest gap; smaller ones are not drawn


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
    handles = [*(handle(*shown) for shown in ERRORS.values()), bound]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    on_ice = estimation[estimation["model"] == "FrozenLake-v1"]
    for column, (_, look) in BOUNDS.items():
        draw_range(bottom[0], on_ice, column, look, column)
    finish(bottom[0], "simulation lemma", BOUNDS)
    draw_rates(bottom[1], estimation, exponents)
    draw_kernels(bottom[2], compatibility)
    bottom[0].set_ylabel("largest error of q")
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


def draw_rates(panel: Axes, errors: pd.DataFrame, exponents: pd.DataFrame) -> None:
    names = {}
    fitted = exponents.set_index("model")
    for model, (name, look) in MODELS.items():
        draw_range(panel, errors[errors["model"] == model], "error", look, model)
        row = fitted.loc[model]
        margin = (row["high"] - row["low"]) / 2
        names[model] = (f"{name}: α = {row['exponent']:.2f} ± {margin:.2f}", look)
    finish(panel, "estimation rate n⁻ᵅ", names)


def draw_kernels(panel: Axes, behaviours: pd.DataFrame) -> None:
    names = {}
    for kernel, (name, look) in KERNELS.items():
        rows = behaviours[behaviours["kernel"] == kernel]
        draw_range(panel, rows, "error", look, kernel)
        names[kernel] = (f"{name}: ‖Tₙ‖ ≤ {rows['norm'].max():.3g}", look)
    finish(panel, "kernels and norms", names)
    sizes = sorted(behaviours["n"].unique())
    panel.set_xticks(sizes, [render.number(n) for n in sizes])


def draw_range(panel: Axes, rows: pd.DataFrame, column: str, look: Look, label: str) -> None:
    """Median over seeds with the range from the smallest to the largest."""
    by_size = rows.groupby("n")[column]
    panel.fill_between(
        by_size.median().index, by_size.min(), by_size.max(), color=look.colour, alpha=0.13, lw=0
    )
    median = by_size.median()
    panel.plot(median.index, median, marker=look.marker, ms=3, mew=0, label=label, **look.line)


def finish(panel: Axes, title: str, names: dict[str, tuple[str, Look]]) -> None:
    """Title, logarithmic axes, and a legend above the curves with room made for it."""
    panel.set_title(title, loc="left")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("transitions n")
    panel.xaxis.set_minor_formatter(NullFormatter())
    low, high = panel.get_ylim()
    panel.set_ylim(low, high * (high / low) ** 0.4)
    panel.legend(
        handles=[handle(*shown) for shown in names.values()],
        loc="upper left",
        fontsize=5.5,
        handlelength=2.2,
        borderpad=0,
        labelspacing=0.25,
    )


def handle(name: str, look: Look) -> Line2D:
    return Line2D([], [], label=name, **look.line)
