"""What an optimistic or pessimistic prior does to the timesteps to the threshold, seed by seed."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from suite.plots.render import add_note, make_panels, number, set_time_axis
from suite.plots.style import KNOWN
from suite.plots.threshold_boxplots import draw_row


def draw(runs: pd.DataFrame) -> Figure:
    figure, panels = make_panels(runs["environment"].unique(), height=1.7)
    for panel, (environment, group) in zip(
        panels, runs.groupby("environment", sort=False), strict=True
    ):
        priors = sorted(group["prior"].unique())
        # Room on the left for the count of those that arrive, where not all do.
        set_time_axis(
            panel, group["reached"].fillna(group["timesteps"]).min() / 3, group["timesteps"].max()
        )
        for row, prior in enumerate(priors):
            times = group[group["prior"] == prior]["reached"].to_numpy(dtype=float)
            draw_row(panel, row, str(prior), times, KNOWN["powr"])
        panel.set_ylim(-0.5, len(priors) - 0.5)
        panel.set_yticks(range(len(priors)), [number(prior) for prior in priors])
        panel.set_title(environment)
        panel.set_xlabel(f"timesteps to a return of {number(group['threshold'].iloc[0])}")
        panel.grid(visible=True, axis="x")
        panel.tick_params(axis="y", length=0)
    panels[0].set_ylabel("prior value")
    add_note(
        figure,
        "Prior: the action value of what was never tried. First evaluation at or above the "
        f"threshold, {runs['seed'].nunique()} seeds. "
        "Points: seeds; box: quartiles, median, range.",
    )
    return figure
