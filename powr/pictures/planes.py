"""Planes through a box: value, policy and visits over two coordinates each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from powr.agent import Agent
from powr.environment import env_name
from powr.pictures.names import (
    COLOURS,
    COORDINATE_NAMES,
    TITLES,
    action_names,
    kind_of,
    value_and_policy,
)

# Two-dimensional slices of larger spaces show little.
MOST_DIMENSIONS = 8

# Points per side of a plane, and cells per side of its visits.
_RESOLUTION, _BINS = 81, 40

# Shares of the range of the visited states: drawn around them, and so far that it is drawn pale.
_MARGIN, _FAR = 0.04, 0.08

# Of actions; the middle one of three is nearly always "do nothing".
_THREE_COLOURS = ("#4C78A8", "#E8E2D0", "#E4743B")
_COLOURS = ("#4C78A8", "#E4743B", "#54A24B", "#EECA3B", "#B279A2", "#72B7B2", "#9D755D", "#E8E2D0")


def draw_planes(agent: Agent) -> Figure:
    """A row of panels per pair of coordinates: value, policy and visits."""
    names = coordinate_names(agent.env)
    planes = [Plane(agent, i) for i in range(0, len(names) - 1, 2)]
    near = np.concatenate([plane.values[~plane.is_far] for plane in planes])
    scales = {
        "value": Normalize(near.min(), max(near.max(), near.min() + 1e-9)),
        "visits": LogNorm(1, max(2, *(plane.visits.max() for plane in planes))),
    }
    figure = Figure((11.4, 0.75 + 3.1 * len(planes)), layout="constrained")
    axes = figure.subplots(len(planes), 3, squeeze=False)
    for row, plane in zip(axes, planes, strict=True):
        for panel, name in zip(row, TITLES, strict=True):
            if name == "policy":
                draw_policy(panel, plane, action_names(agent.env))
            else:
                numbers = plane.values if name == "value" else plane.visits
                image = plane.show(panel, numbers, cmap=COLOURS[name], norm=scales[name])
                figure.colorbar(image, ax=panel, fraction=0.05, pad=0.02)
            if name != "visits":
                plane.fade(panel)
            panel.set_title(TITLES[name], pad=20 if name == "policy" else 6)
            panel.set(xlabel=names[plane.pair[0]], ylabel=names[plane.pair[1]])
    note = "pale: far from every visited state"
    if len(names) > 2:
        note += "; the other coordinates are held at their medians"
    figure.supxlabel(note, fontsize=8, color="0.35", x=0.01, ha="left")
    return figure


def coordinate_names(env: gymnasium.Env) -> Sequence[str]:
    """A name for each coordinate of a box; raises ValueError where there are none to draw."""
    space, name = env.observation_space, env_name(env)
    if not isinstance(space, Box):
        raise ValueError(
            f"{name} cannot be drawn: there are maps of gymnasium's FrozenLake and Taxi, without "
            f"wrappers that change observations or actions, but not of {space}"
        )
    n_dimensions = int(np.prod(space.shape))
    if not 2 <= n_dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            f"{name} cannot be drawn: its observations have {n_dimensions} dimensions, and boxes "
            f"are drawn with 2 to {MOST_DIMENSIONS}"
        )
    kind = kind_of(env, "observation_space", gymnasium.ObservationWrapper)
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

    def fade(self, panel: Axes) -> None:
        white = np.ones((len(self.is_far), 3))
        self.show(panel, np.column_stack([white, 0.7 * self.is_far]))


def draw_policy(panel: Axes, plane: Plane, names: Sequence[str]) -> None:
    palette = _THREE_COLOURS if len(names) == 3 else _COLOURS
    colours = [palette[i % len(palette)] for i in range(len(names))]
    norm = BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names))
    likeliest = plane.probabilities.argmax(axis=1)
    plane.show(panel, likeliest, cmap=ListedColormap(colours), norm=norm)
    patches = [Patch(facecolor=colour, edgecolor="0.6", lw=0.5) for colour in colours]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.1}
    style: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 1}
    panel.legend(patches, names, ncols=min(len(names), 4), **place, **style)
