"""multiverse.pdf: a specification curve of when POWR arrives, one column per universe.

Above are the medians of both policies, below a dot for each setting of the universe.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from suite.names import algorithm_name
from suite.plots.render import add_note, missing_note, number
from suite.plots.style import COLUMN_WIDTH, KNOWN
from suite.results.statistics import median_coverage

TABLES = ("universes",)
POLICIES = {"deterministic": (KNOWN["powr"].colour, "o", -0.18), "sampled": ("#33415C", "D", 0.18)}
SETS = {"defaults": ("library defaults", (4, 2)), "authors": ("authors' settings", (1, 1.5))}
SETTING = "setting."
SHADE = "#F2E2B6"
LABELS = {
    ("setting.restart", "no"): "sum over epochs",
    ("setting.restart", "yes"): "restart each epoch",
    ("setting.kernel", "Gaussian"): "Gaussian kernel",
    ("setting.kernel", "Exponential"): "exponential kernel",
}


def draw(table: pd.DataFrame) -> Figure:
    table = table[table["against"].isin(SETS) & table["policy"].isin(POLICIES)]
    settings = [name for name in table if name.startswith(SETTING)]
    table = table.assign(**{name: table[name].map(text_of) for name in settings})
    groups = dict(list(table.groupby("environment", sort=False)))
    rows = [
        (name, value)
        for name in settings
        if table.groupby("environment")[name].nunique().max() > 1
        for value in dict.fromkeys(table[name])
        if value
    ]
    figure = Figure(figsize=(1.35 * COLUMN_WIDTH, 2.9 + 0.14 * len(rows)), layout="constrained")
    panels = figure.subplots(
        2,
        len(groups),
        squeeze=False,
        width_ratios=[group["universe"].nunique() + 6 for group in groups.values()],
        height_ratios=[2.2, 0.14 * len(rows)],
    )
    for (above, below), (environment, group) in zip(panels.T, groups.items(), strict=True):
        order = sorted_universes(group)
        draw_curve(above, group, order, environment)
        draw_settings(below, group, order, rows, labelled=below is panels[1, 0])
        for panel in (above, below):
            panel.set_xlim(-0.7, len(order) - 0.3)
            panel.set_xticks([])
            for name in group[group["main"]]["universe"].unique():
                column = order.index(name)
                panel.axvspan(column - 0.5, column + 0.5, color=SHADE, lw=0, zorder=0)
    panels[0, 0].set_ylabel("timesteps to the threshold")
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=3.5, lw=0, label=f"POWR, {policy} policy")
        for policy, (colour, marker, _) in POLICIES.items()
    ] + [
        Line2D([], [], color="0.15", lw=0.8, dashes=dashes, label=f"best baseline, {label}")
        for label, dashes in SETS.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    add_note(figure, note(table))
    return figure


def arrivals_of(cell: Any) -> list[float]:
    """The timesteps in a cell, which pandas has read as one number where no cell has two."""
    return [] if pd.isna(cell) else [float(timestep) for timestep in str(cell).split()]


def text_of(value: Any) -> str:
    """A cell as it was written: pandas reads 1 as 1.0 where other cells are fractions or empty."""
    return "" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)


def sorted_universes(group: pd.DataFrame) -> list[str]:
    """The earliest median of the sampled policy first, then of the deterministic one."""
    medians = group.pivot_table("median", "universe", "policy", sort=False)
    medians = medians.reindex(group["universe"].unique(), columns=["sampled", "deterministic"])
    return list(medians.fillna(np.inf).sort_values(list(medians), kind="stable").index)


def draw_curve(panel: Axes, group: pd.DataFrame, order: list[str], environment: str) -> None:
    """The medians, the budget and the best baselines; "never" stands above all of them."""
    one = group.iloc[0]
    baselines = group.dropna(subset="best_baseline_median").sort_values("best_baseline_median")
    baselines = baselines.drop_duplicates("against").set_index("against")
    times = [time for cell in group["first_arrivals"] for time in arrivals_of(cell)]
    first = min([*times, one["timesteps"] / 10])
    last = max([one["timesteps"], *baselines["best_baseline_median"]])
    never = last * (last / first) ** 0.16
    for row in group.drop_duplicates(["universe", "policy"]).itertuples():
        draw_universe(panel, order.index(row.universe), row, never)
    for name, (label, dashes) in SETS.items():
        who, height = "no baseline", never
        if name in baselines.index:
            key, height = baselines.loc[name, ["best_baseline", "best_baseline_median"]]
            who = algorithm_name(key.removesuffix("-authors"))
            panel.axhline(height, color="0.15", lw=0.8, dashes=dashes)
        # At the left, where universes are early and leave room; those of two sets apart.
        beneath = name == "defaults" and height < never
        panel.annotate(
            f"{who}, {label}",
            (0.01, height),
            xycoords=panel.get_yaxis_transform(),
            xytext=(0, -2 if beneath else 2),
            textcoords="offset points",
            va="top" if beneath else "bottom",
            fontsize=5.5,
        )
    panel.axhline(one["timesteps"], color="0.75", lw=0.6)
    panel.set_title(
        f"{environment}\nthreshold {number(one['threshold'])}, {one['runs_planned']} seeds",
        fontsize=7,
    )
    panel.set_yscale("log")
    panel.set_ylim(0.7 * first, never * (last / first) ** 0.12)
    steps = (1,) if last >= 50 * first else (1, 2, 5)
    ticks = [step * 10**k for k in range(1, 8) for step in steps]
    ticks = [tick for tick in ticks if 0.7 * first <= tick <= last]
    panel.set_yticks([*ticks, never], [*map(number, ticks), "never"])
    panel.set_yticks([], minor=True)
    panel.grid(visible=True, axis="y")


def draw_universe(panel: Axes, column: int, row: Any, never: float) -> None:
    """The median of one policy; hollow, at the top, if half of the runs never arrive."""
    colour, marker, aside = POLICIES[row.policy]
    arrived, place = arrivals_of(row.first_arrivals), column + aside
    look = {"marker": marker, "ms": 2.6, "mec": colour, "mew": 0.6, "label": row.policy}
    if row.runs and pd.isna(row.median):
        panel.plot(place, never, mfc="white", lw=0, **look)
    elif row.runs:
        top = never if row.arrived < row.runs else max(arrived)
        panel.plot([place] * 2, [min(arrived), top], color=colour, lw=0.6, alpha=0.6)
        panel.plot(place, row.median, mfc=colour, lw=0, **look)


def draw_settings(
    panel: Axes,
    group: pd.DataFrame,
    order: list[str],
    rows: list[tuple[str, str]],
    labelled: bool,
) -> None:
    universes = group.drop_duplicates("universe").set_index("universe").loc[order]
    for height, (column, value) in enumerate(rows):
        places = np.flatnonzero(universes[column] == value)
        panel.plot(places, [height] * len(places), "o", color="0.2", ms=2, lw=0)
        if not any(universes[column]):
            look: dict[str, Any] = {"fontsize": 5, "color": "0.6", "ha": "center", "va": "center"}
            panel.text((len(order) - 1) / 2, height, "does not apply", **look)
        if height and rows[height - 1][0] != column:
            panel.axhline(height - 0.5, color="0.85", lw=0.6)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    labels = [
        LABELS.get((column, value)) or f"{column.removeprefix(SETTING).replace('_', ' ')} {value}"
        for column, value in rows
    ]
    panel.set_yticks(range(len(rows)), labels if labelled else [""] * len(rows))
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel(f"{len(order)} universes")


def note(table: pd.DataFrame) -> str:
    runs = table.drop_duplicates("universe")
    intervals = ", ".join(
        f"with {n} seeds a {median_coverage(n):.0%} interval of the median"
        if median_coverage(n) > 0
        else f"with {n} none"
        for n in sorted(set(runs["runs_planned"]), reverse=True)
    )
    return (
        "The paper's POWR under every plausible combination of the settings that nobody knows. A "
        "column is one combination, a universe; the dots below are its settings. A mark is the "
        "median over seeds of the timesteps to the first evaluation at the threshold: lower is "
        f"better. Bars reach from the first run to arrive to the last ({intervals}). Hollow marks: "
        "half of the runs or more never arrive within the budget, the grey line. Universes are "
        "sorted by the sampled policy, which the authors evaluate; shaded are the authors' "
        f"probable settings.{missing_note(runs['runs'], runs['runs_planned'])}"
    )
