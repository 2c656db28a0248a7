"""How collecting and planning alternate: timesteps to the threshold over both rhythms."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from suite.plots.ablations.heat_map import draw_times
from suite.plots.render import add_note, make_panels, number


def draw(runs: pd.DataFrame) -> Figure:
    figure, panels = make_panels(runs["environment"].unique(), height=2.2)
    for panel, (environment, group) in zip(
        panels, runs.groupby("environment", sort=False), strict=True
    ):
        draw_times(panel, group, "episodes_per_epoch", "mirror_steps")
        panel.set_title(f"{environment}\nreturn ≥ {number(group['threshold'].iloc[0])}")
        panel.set_xlabel("mirror descent steps an epoch")
    panels[0].set_ylabel("episodes an epoch")
    add_note(
        figure,
        f"Median timesteps to the threshold over {runs['seed'].nunique()} seeds, darker is later; "
        "in brackets the seeds that reach it, where not all do.",
    )
    return figure
