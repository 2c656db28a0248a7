"""How discount and regularization matter: timesteps to the threshold, and the return reached."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from suite.plots.ablations.heat_map import draw_returns, draw_times
from suite.plots.render import add_note, number
from suite.plots.style import COLUMN_WIDTH


def draw(runs: pd.DataFrame) -> Figure:
    by_environment = runs.groupby("environment", sort=False)
    figure = Figure(figsize=(COLUMN_WIDTH, 3.6), layout="constrained")
    top, bottom = figure.subplots(2, by_environment.ngroups, squeeze=False)
    for above, below, (environment, group) in zip(top, bottom, by_environment, strict=True):
        draw_times(above, group, "regularization", "gamma")
        draw_returns(below, group, "regularization", "gamma")
        above.set_title(f"{environment}\nreturn ≥ {number(group['threshold'].iloc[0])}")
        below.set_xlabel("discount factor γ")
    top[0].set_ylabel("timesteps to the threshold\nregularization λ")
    bottom[0].set_ylabel("return in the second half\nregularization λ")
    add_note(
        figure,
        f"Top: median over {runs['seed'].nunique()} seeds, darker is later; in brackets the seeds "
        "that reach the threshold, where not all do. Bottom: mean over seeds, darker is higher.",
    )
    return figure
