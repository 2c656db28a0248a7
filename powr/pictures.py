"""Pictures of what an agent learned: value, policy and visits, as maps or as planes through a box.

>>> from powr import POWR
>>> figure = draw(POWR("FrozenLake-v1", seed=0).learn(300))
>>> figure.savefig("lake.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import ActionWrapper, ObservationWrapper
from gymnasium.spaces import Box
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from powr.agent import Agent
from powr.environment import env_name
from powr.files import check_destination, written_aside

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from powr.animation import action_names, kind_of, render_episode
except ImportError as error:
    raise ImportError(
        "pictures need matplotlib and pillow: pip install matplotlib pillow", name=error.name
    ) from error

__all__ = ["draw", "explain", "render_episode"]

TITLES = {
    "value": "Value: expected discounted return",
    "policy": "Policy: most probable action",
    "visits": "Visits: steps taken from a state",
}
_COLOURS = {"value": "viridis", "visits": "Blues"}
_STYLE: Any = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
}

# By the class of the environment.
COORDINATE_NAMES = {
    "CartPoleEnv": ("cart position", "cart velocity", "pole angle", "pole velocity"),
    "MountainCarEnv": ("position", "velocity"),
}

# In a map: the colour of unvisited cells, and the share of the largest probability from which on an
# action is drawn.
_UNVISITED, _SHARE_OF_BEST = "#EDEDED", 0.5

# Two-dimensional slices of larger spaces show little.
MOST_DIMENSIONS = 8

# Points per side of a plane, and cells per side of its visits.
_RESOLUTION, _BINS = 81, 40

# Shares of the range of the visited states: drawn around them, and so far that it is drawn pale.
_MARGIN, _FAR = 0.04, 0.08

# Of actions; the middle one of three is nearly always "do nothing".
_THREE_COLOURS = ("#4C78A8", "#E8E2D0", "#E4743B")
_PALETTE = ("#4C78A8", "#E4743B", "#54A24B", "#EECA3B", "#B279A2", "#72B7B2", "#9D755D", "#E8E2D0")


def draw(agent: Agent) -> Figure:
    """Draw value, policy and visits of an agent.

    FrozenLake is drawn as maps, a box as planes through two coordinates each, the others held at
    their medians.
    """
    if agent.n_plans_ == 0:
        raise ValueError(
            f"the agent has not made a plan yet, after {agent.num_timesteps} timesteps: train it "
            "for longer"
        )
    spaces = (("observation_space", ObservationWrapper), ("action_space", ActionWrapper))
    is_lake = all(kind_of(agent.env, *space) == "FrozenLakeEnv" for space in spaces)
    with mpl.rc_context(_STYLE):
        figure, note = draw_maps(agent) if is_lake else draw_planes(agent)
        figure.supxlabel(note, fontsize=8, color="0.35", x=0.01, ha="left")
        title = f"What {type(agent).__name__} learned on {env_name(agent.env)}"
        title += f" in {agent.num_timesteps:,} timesteps"
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
    return figure


def explain(agent: Agent, path: str | Path) -> None:
    """Write the picture of `draw` to a .png, whole or not at all."""
    check_destination(path, ".png")
    with written_aside(path) as file:
        draw(agent).savefig(file, format="png", dpi=110)


def value_and_policy(agent: Agent, observations: Any) -> tuple[NDArray, NDArray]:
    """The value of the policy, (n,), and its action probabilities, (n, n_actions)."""
    probabilities = agent.action_probabilities(observations)
    return (probabilities * agent.action_values(observations)).sum(axis=1), probabilities


def scales_of(values: NDArray, visits: NDArray) -> dict[str, Normalize]:
    """Scales of the colours that all panels of a kind share."""
    return {
        "value": Normalize(values.min(), max(values.max(), values.min() + 1e-9)),
        "visits": LogNorm(1, max(visits.max(), 2)),
    }


# -- maps -----------------------------------------------------------------------------------------


def draw_maps(agent: Agent) -> tuple[Figure, str]:
    """The lake once per quantity, with numbers or arrows in the visited cells."""
    cells = agent.env.unwrapped.desc
    values, probabilities = value_and_policy(agent, range(cells.size))
    visits = np.bincount(agent.data.columns()[0], minlength=cells.size)
    scales = scales_of(values[visits > 0], visits)
    shown = {"value": values, "policy": visits, "visits": visits}
    figure = Figure((9.0, 3.8), layout="constrained")
    for panel, (name, numbers) in zip(figure.subplots(1, 3), shown.items(), strict=True):
        colours = mpl.colormaps[_COLOURS[name]] if name in _COLOURS else ListedColormap(["white"])
        image = panel.imshow(
            np.ma.masked_where(visits == 0, numbers).reshape(cells.shape),
            cmap=colours.with_extremes(bad=_UNVISITED),
            norm=scales.get(name),
        )
        panel.set_title(TITLES[name])
        panel.set(xticks=[], yticks=[])
        for state, (number, letter) in enumerate(zip(numbers, cells.ravel(), strict=True)):
            row, column = divmod(state, cells.shape[1])
            ink = readable_on(image.to_rgba(number)) if visits[state] else "black"
            if letter != b"F":
                panel.text(column - 0.44, row - 0.42, letter.decode(), va="top", color=ink)
            if visits[state]:
                likely = probabilities[state] >= _SHARE_OF_BEST * probabilities[state].max()
                arrows = "".join(np.array(list("←↓→↑"))[likely])
                texts = {"value": f"{number:.3g}", "policy": arrows, "visits": f"{number:,}"}
                size = min(13, 260 / max(len(texts[name]), 5) / cells.shape[1])
                style = {"ha": "center", "va": "center", "fontsize": size, "color": ink}
                panel.text(column, row, texts[name], **style)
    return figure, "S start, H hole, G goal; light grey: never visited"


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever can be read on a colour."""
    return "black" if np.dot(colour[:3], (0.3, 0.59, 0.11)) > 0.5 else "white"


# -- planes ---------------------------------------------------------------------------------------


def draw_planes(agent: Agent) -> tuple[Figure, str]:
    """A row of panels per pair of coordinates: value, policy and visits."""
    names = coordinate_names(agent.env)
    planes = [Plane(agent, i) for i in range(0, len(names) - 1, 2)]
    near = np.concatenate([plane.values[~plane.is_far] for plane in planes])
    scales = scales_of(near, np.array([plane.visits.max() for plane in planes]))
    figure = Figure((11.4, 0.75 + 3.1 * len(planes)), layout="constrained")
    axes = figure.subplots(len(planes), 3, squeeze=False)
    for row, plane in zip(axes, planes, strict=True):
        for panel, name in zip(row, TITLES, strict=True):
            if name == "policy":
                draw_policy(panel, plane, action_names(agent.env))
            else:
                numbers = plane.values if name == "value" else plane.visits
                image = plane.show(panel, numbers, cmap=_COLOURS[name], norm=scales[name])
                figure.colorbar(image, ax=panel, fraction=0.05, pad=0.02)
            if name != "visits":
                white = np.ones((len(plane.is_far), 3))
                plane.show(panel, np.column_stack([white, 0.7 * plane.is_far]))
            panel.set_title(TITLES[name], pad=20 if name == "policy" else 6)
            panel.set(xlabel=names[plane.pair[0]], ylabel=names[plane.pair[1]])
    medians = "; the other coordinates are held at their medians" if len(names) > 2 else ""
    return figure, f"pale: far from every visited state{medians}"


def coordinate_names(env: gymnasium.Env) -> Sequence[str]:
    """A name for each coordinate of a box; raises ValueError where there are none to draw."""
    space, name = env.observation_space, env_name(env)
    if not isinstance(space, Box):
        raise ValueError(
            f"{name} cannot be drawn: there are maps of gymnasium's FrozenLake, without wrappers "
            f"that change observations or actions, but not of {space}"
        )
    n_dimensions = int(np.prod(space.shape))
    if not 2 <= n_dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            f"{name} cannot be drawn: its observations have {n_dimensions} dimensions, and boxes "
            f"are drawn with 2 to {MOST_DIMENSIONS}"
        )
    kind = kind_of(env, "observation_space", ObservationWrapper)
    return COORDINATE_NAMES.get(kind, [f"observation {i}" for i in range(n_dimensions)])


class Plane:
    """An agent's values, policy and visits on a lattice over coordinates i and i + 1."""

    def __init__(self, agent: Agent, i: int):
        self.pair = [i, i + 1]
        states, _, _, next_states, _ = agent.data.columns()
        visited = np.vstack([states, next_states])
        points = visited[:, self.pair]
        range_ = np.ptp(points, axis=0)
        margin = _MARGIN * np.where(range_ > 0, range_, 1.0)
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        self.extent = (low[0], high[0], low[1], high[1])
        sides = np.linspace(low, high, _RESOLUTION).T
        lattice = np.column_stack([grid.ravel() for grid in np.meshgrid(*sides)])

        embedded = np.tile(np.median(visited, axis=0), (len(lattice), 1))
        embedded[:, self.pair] = lattice
        observations = embedded.reshape(-1, *agent.observation_space.shape)
        self.values, self.probabilities = value_and_policy(agent, observations)
        bounds = np.column_stack([low, high])
        counts, *_ = np.histogram2d(states[:, i], states[:, i + 1], _BINS, bounds)
        self.visits = np.ma.masked_equal(counts.T.ravel(), 0)
        unit = high - low
        self.is_far = cKDTree(points / unit).query(lattice / unit)[0] > _FAR

    def show(self, panel: Axes, numbers: NDArray, **options: Any) -> Any:
        """An image of numbers or colours over the plane, row by row from below."""
        side = round(len(numbers) ** 0.5)
        image = numbers.reshape(side, side, *numbers.shape[1:])
        options |= {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        return panel.imshow(image, extent=self.extent, **options)


def draw_policy(panel: Axes, plane: Plane, names: Sequence[str]) -> None:
    palette = _THREE_COLOURS if len(names) == 3 else _PALETTE
    colours = [palette[i % len(palette)] for i in range(len(names))]
    norm = BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names))
    likeliest = plane.probabilities.argmax(axis=1)
    plane.show(panel, likeliest, cmap=ListedColormap(colours), norm=norm)
    patches = [Patch(facecolor=colour, edgecolor="0.6", lw=0.5) for colour in colours]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.1}
    style: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 1}
    panel.legend(patches, names, ncols=min(len(names), 4), **place, **style)
