"""Value, policy and visits of an agent over its states, as one figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from powr.agent import Agent
from powr.environment import env_name
from powr.files import check_destination, check_suffix, written_aside
from powr.pictures.layouts import GridMap, Plane, layout_of
from powr.pictures.maps import draw_maps
from powr.pictures.planes import draw_planes
from powr.pictures.quantities import QUANTITIES

_STYLE: Any = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
}


def draw(agent: Agent, *, show: str | Sequence[str] | None = None) -> Figure:
    """Draw value, policy and visits of an agent: grid worlds as maps, boxes as planes.

    Parameters
    ----------
    agent : POWR or OptimisticPOWR
        An agent that has made a plan.
    show : str or sequence of str, default=None
        Some of "value", "policy" and "visits". Default: all of them; for Taxi, which has a map per
        passenger and destination, the value with the policy on it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if agent.n_plans_ == 0:
        raise ValueError(
            f"the agent has not made a plan yet, after {agent.num_timesteps} timesteps: train it "
            "for longer"
        )
    layout = layout_of(agent.env)
    names = _check_show(show, layout)
    with mpl.rc_context(_STYLE):
        if isinstance(layout, GridMap):
            figure = draw_maps(agent, layout, names)
        else:
            figure = draw_planes(agent, layout, names)
        title = f"What {type(agent).__name__} learned on {env_name(agent.env)}"
        title += f" in {agent.num_timesteps:,} timesteps"
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
    return figure


def explain(agent: Agent, path: str | Path, *, show: str | Sequence[str] | None = None) -> None:
    """Write the picture of `draw` to a .png, whole or not at all."""
    check_destination(path)
    check_suffix(path, ".png", "a picture")
    with written_aside(path) as file:
        draw(agent, show=show).savefig(file, format="png", dpi=110)


def _check_show(show: str | Sequence[str] | None, layout: GridMap | list[Plane]) -> list[str]:
    n_maps = len(layout.states) if isinstance(layout, GridMap) else 1
    if show is None:
        return ["value"] if n_maps > 1 else list(QUANTITIES)
    names = [show] if isinstance(show, str) else list(dict.fromkeys(show))
    unknown = ", ".join(repr(name) for name in names if name not in QUANTITIES)
    if unknown or not names:
        raise ValueError(f"show must be some of {', '.join(QUANTITIES)}, got {unknown or 'none'}")
    if n_maps > 1 and len(names) != 1:
        raise ValueError(f"there are {n_maps} maps per quantity: show one quantity alone")
    return names
