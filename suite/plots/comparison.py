"""One environment: return over timesteps, and timesteps to the threshold, side by side."""

from __future__ import annotations

from matplotlib.figure import Figure

from suite.names import algorithm_name
from suite.plots import threshold_boxplots, training_curves
from suite.plots.render import Tables, add_note, number, seeds_note
from suite.plots.style import COLUMN_WIDTH, looks


def draw(tables: Tables) -> Figure:
    (environment,) = tables.environments
    look_of = looks(tables.algorithms)
    threshold = tables.summary["threshold"].iloc[0]
    height = max(2.6, 1.3 + 0.2 * len(look_of))
    figure = Figure(figsize=(1.35 * COLUMN_WIDTH, height), layout="constrained")
    curves, times = figure.subplots(1, 2)
    training_curves.draw_panel(curves, tables.curves, [threshold], look_of)
    curves.set_ylabel(curves.get_ylabel() or "mean return")
    first = tables.curves["timestep"].min()
    met = tables.runs[tables.runs["threshold"] == threshold]
    threshold_boxplots.draw_panel(times, met, tables.summary, look_of, first)
    times.set_xlabel(f"timesteps to a return of {number(threshold)}")
    times.set_yticks(range(len(look_of)), [algorithm_name(name) for name in look_of])
    handles = training_curves.legend_handles(look_of)
    figure.legend(handles=handles, loc="outside upper center", ncols=6)
    curves.set_title(environment, loc="left", fontweight="bold")
    add_note(
        figure,
        "Return of the deterministic policy. Left: mean, and minimum to maximum over "
        f"{seeds_note(tables.summary)}. Right: first evaluation at the threshold, a point per "
        "seed; grey bar: end of training.",
    )
    return figure
