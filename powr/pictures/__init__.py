"""Pictures of what an agent learned, and animations of its episodes.

>>> from powr import POWR
>>> figure = draw(POWR("FrozenLake-v1", seed=0).learn(300))
>>> figure.savefig("lake.png")  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from powr.pictures.animation import render_episode
    from powr.pictures.maps import draw_maps, grid_map
    from powr.pictures.planes import draw_planes
except ImportError as error:
    raise ImportError(
        "pictures need matplotlib and pillow: pip install matplotlib pillow", name=error.name
    ) from error

from powr.agent import Agent
from powr.environment import env_name
from powr.files import check_destination, written_aside

__all__ = ["draw", "explain", "render_episode"]

_STYLE: Any = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
}


def draw(agent: Agent) -> Figure:
    """Draw value, policy and visits of an agent.

    FrozenLake is drawn as maps. Taxi has a map per place of the passenger and destination: values
    with the policy on them. A box is drawn as planes through two coordinates each, the others held
    at their medians.
    """
    if agent.n_plans_ == 0:
        raise ValueError(
            f"the agent has not made a plan yet, after {agent.num_timesteps} timesteps: train it "
            "for longer"
        )
    layout = grid_map(agent.env)
    with mpl.rc_context(_STYLE):
        figure = draw_planes(agent) if layout is None else draw_maps(agent, layout)
        title = f"What {type(agent).__name__} learned on {env_name(agent.env)}"
        title += f" in {agent.num_timesteps:,} timesteps"
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
    return figure


def explain(agent: Agent, path: str | Path) -> None:
    """Write the picture of `draw` to a .png, whole or not at all."""
    check_destination(path, ".png")
    with written_aside(path) as file:
        draw(agent).savefig(file, format="png", dpi=110)
