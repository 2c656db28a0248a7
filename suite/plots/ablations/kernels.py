"""Exponential against Gaussian kernels on MountainCar: timesteps to the threshold, and return."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from suite.plots.render import add_note, number, set_time_axis
from suite.plots.style import COLUMN_WIDTH, Look
from suite.plots.threshold_boxplots import draw_row

LOOKS = {
    "Exponential": Look("#B2182B", (), "o", 1.4),
    "Gaussian": Look("#1E88E5", (5, 1.5), "s", 1.0),
}


def draw(runs: pd.DataFrame) -> Figure:
    by_kernel = runs.groupby(["kernel_name", "kernel_bandwidth"], sort=False)
    figure = Figure(figsize=(COLUMN_WIDTH, 0.9 + 0.2 * by_kernel.ngroups), layout="constrained")
    times, returns = figure.subplots(1, 2, sharey=True)
    set_time_axis(
        times, runs["reached"].fillna(runs["timesteps"]).min() / 3, runs["timesteps"].max()
    )
    names = []
    for row, ((kernel, bandwidth), group) in enumerate(by_kernel):
        name = f"{kernel} ({', '.join(bandwidth.split())})"
        for panel, column in ((times, "reached"), (returns, "late_return")):
            draw_row(panel, row, name, group[column].to_numpy(dtype=float), LOOKS[kernel])
        names.append(name)
    threshold = runs["threshold"].iloc[0]
    returns.axvline(threshold, color="0.3", lw=0.8, dashes=(5, 3))
    times.set_ylim(len(names) - 0.5, -0.5)
    times.set_yticks(range(len(names)), names)
    times.set_xlabel(f"timesteps to a return of {number(threshold)}")
    returns.set_xlabel("mean return in the second half")
    for panel in (times, returns):
        panel.grid(visible=True, axis="x")
        panel.tick_params(axis="y", length=0)
    add_note(
        figure,
        f"{runs['environment'].iloc[0]}, bandwidths of position and velocity in brackets. Points: "
        f"{runs['seed'].nunique()} seeds; box: quartiles, median, range; dashed: the threshold.",
    )
    return figure
