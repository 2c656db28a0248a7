"""Pictures of what an agent thinks: value, policy, visits and uncertainty over its states.

A map for grid worlds, the plane for two dimensions, slices elsewhere. Needs matplotlib.

>>> from powr import POWR
>>> figure = draw(POWR("MountainCar-v0", seed=0).learn(300))
>>> figure.savefig("thoughts.png")  # doctest: +SKIP
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

try:
    from matplotlib.figure import Figure
    from PIL import Image
except ImportError as error:
    raise ImportError("pictures need matplotlib: pip install 'powr[plots]'") from error

from powr.beliefs import Beliefs, beliefs_of, history_of_beliefs
from powr.files import check_destination, check_suffix, written_aside
from powr.layouts import GridMap, Layout, check_layout, layout_of
from powr.plots.drawing import Drawing
from powr.plots.quantities import QUANTITIES
from powr.render import write_gif

if TYPE_CHECKING:
    from powr.agent import POWR

Show = str | Sequence[str] | None

_MOMENTS = 24
_FRAME_MS = 400
_DOTS_PER_INCH, _DOTS_OF_ANIMATION = 110, 80


def draw(agent: POWR, *, show: Show = None, layout: Layout | None = None) -> Figure:
    """What an agent thinks, as a matplotlib figure.

    Parameters
    ----------
    agent : a trained agent.
    show : one or some of "value", "policy", "visits" and "uncertainty"; default: all of them, or
        the value with the policy on it where there are several maps.
    layout : how states lie on paper. Default: from the environment, see `powr.layouts`.
    """
    beliefs = beliefs_of(agent)
    return prepare(agent, show, layout, beliefs).draw(beliefs)


def explain(
    agent: POWR,
    path: str | Path,
    *,
    show: Show = None,
    layout: Layout | None = None,
) -> None:
    """Write what an agent thinks to `path`: a picture (.png) or an animation over training (.gif).

    The animation makes the plans of training again, from the transitions up to each moment.
    """
    check_destination(path)
    check_suffix(path, {".png": "a picture", ".gif": "an animation over training"})
    if Path(path).suffix == ".png":
        with written_aside(path) as file:
            draw(agent, show=show, layout=layout).savefig(file, format="png", dpi=_DOTS_PER_INCH)
        return
    drawing = prepare(agent, show, layout, beliefs_of(agent))
    moments = history_of_beliefs(agent, _MOMENTS)
    write_gif([picture(drawing.draw(beliefs)) for beliefs in moments], path, frame_ms=_FRAME_MS)


def prepare(agent: POWR, show: Show, layout: Layout | None, last: Beliefs) -> Drawing:
    """A drawing that fits the agent and what was asked for."""
    if layout is None:
        layout = layout_of(agent.env)
    else:
        check_layout(layout, agent.env)
    return Drawing(agent, layout, chosen(show, layout), last)


def chosen(show: Show, layout: Layout) -> list[str]:
    """The quantities to draw, checked."""
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


def picture(figure: Figure) -> Image.Image:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DOTS_OF_ANIMATION)
    return Image.open(buffer).convert("RGB")
