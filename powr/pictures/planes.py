"""Planes through a box: value, policy and visits over two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from powr.agent import Agent
from powr.pictures.layouts import Plane, action_names
from powr.pictures.quantities import COLOURS, QUANTITIES, value_and_policy

# Points per side of a plane, and cells per side of its visits.
_RESOLUTION, _BINS = 81, 40

# Shares of the range of the visited states: drawn around them, and so far that it is drawn pale.
_MARGIN, _FAR = 0.04, 0.08

# Of actions; the middle one of three is nearly always "do nothing".
_THREE_COLOURS = ("#4C78A8", "#E8E2D0", "#E4743B")
_COLOURS = ("#4C78A8", "#E4743B", "#54A24B", "#EECA3B", "#B279A2", "#72B7B2", "#9D755D", "#E8E2D0")


def draw_planes(agent: Agent, planes: list[Plane], names: list[str]) -> Figure:
    """A row of panels per plane, one for each quantity."""
    samples = [PlaneSample(agent, plane) for plane in planes]
    near = np.concatenate([sample.values[~sample.far] for sample in samples])
    value_scale = Normalize(near.min(), max(near.max(), near.min() + 1e-9))
    visits_scale = LogNorm(1, max(2, *(sample.visits.max() for sample in samples)))
    size = (0.3 + 3.7 * len(names), 0.75 + 3.1 * len(planes))
    figure = Figure(size, layout="constrained")
    axes = figure.subplots(len(planes), len(names), squeeze=False)
    for row, sample in zip(axes, samples, strict=True):
        for panel, name in zip(row, names, strict=True):
            if name == "policy":
                draw_policy(panel, sample, action_names(agent.env))
            else:
                numbers = sample.values if name == "value" else sample.visits
                scale = value_scale if name == "value" else visits_scale
                image = sample.show(panel, numbers, cmap=COLOURS[name], norm=scale)
                figure.colorbar(image, ax=panel, fraction=0.05, pad=0.02)
            if name == "visits":
                panel.plot(*sample.ends.T, "x", ms=3, mew=0.7, color="#B2182B")
            else:
                sample.fade(panel)
            if name != "visits" and len(planes) == 1:
                panel.plot(*sample.last_episode.T, color="white", lw=2.2, alpha=0.9)
                panel.plot(*sample.last_episode.T, color="black", lw=0.9)
                panel.plot(*sample.last_episode[:1].T, "o", ms=5, color="black", mec="white")
            panel.set_title(QUANTITIES[name], pad=20 if name == "policy" else 6)
            i, j, coordinates = sample.plane
            panel.set(xlabel=coordinates[i], ylabel=coordinates[j])
            panel.set(xlim=sample.extent[:2], ylim=sample.extent[2:])
    figure.supxlabel(notes(agent, planes, names), fontsize=8, color="0.35", x=0.01, ha="left")
    return figure


class PlaneSample:
    """An agent's values, policy and visits on a lattice over the visited part of a plane."""

    def __init__(self, agent: Agent, plane: Plane):
        self.plane = plane
        pair = [plane.i, plane.j]
        states, _, _, next_states, terminated = agent.data.columns()
        visited = np.vstack([states, next_states])
        points = visited[:, pair]
        extent = np.ptp(points, axis=0)
        margin = _MARGIN * np.where(extent > 0, extent, 1.0)
        (x0, y0), (x1, y1) = points.min(axis=0) - margin, points.max(axis=0) + margin
        self.extent = (float(x0), float(x1), float(y0), float(y1))
        x, y = np.linspace(x0, x1, _RESOLUTION), np.linspace(y0, y1, _RESOLUTION)
        lattice = np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])

        embedded = np.tile(np.median(visited, axis=0), (len(lattice), 1))
        embedded[:, pair] = lattice
        observations = embedded.reshape(-1, *agent.observation_space.shape)
        self.values, self.probabilities = value_and_policy(agent, observations)
        bounds = [self.extent[:2], self.extent[2:]]
        counts, *_ = np.histogram2d(states[:, plane.i], states[:, plane.j], _BINS, bounds)
        self.visits = np.ma.masked_equal(counts.T.ravel(), 0)
        unit = np.array([x1 - x0, y1 - y0])
        self.far = cKDTree(points / unit).query(lattice / unit)[0] > _FAR

        self.ends = next_states[terminated][:, pair]
        self.last_episode = np.empty((0, 2))
        if agent.data.episodes():
            start, stop = agent.data.episodes()[-1]
            self.last_episode = np.vstack([states[start:stop], next_states[stop - 1]])[:, pair]

    def show(self, panel: Axes, numbers: NDArray, **options: Any) -> Any:
        """An image of numbers or colours over the plane, row by row from below."""
        side = round(len(numbers) ** 0.5)
        image = numbers.reshape(side, side, *numbers.shape[1:])
        options |= {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        return panel.imshow(image, extent=self.extent, **options)

    def fade(self, panel: Axes) -> None:
        white = np.ones((len(self.far), 3))
        self.show(panel, np.column_stack([white, 0.7 * self.far]))


def draw_policy(panel: Axes, sample: PlaneSample, names: Sequence[str]) -> None:
    palette = _THREE_COLOURS if len(names) == 3 else _COLOURS
    colours = [palette[i % len(palette)] for i in range(len(names))]
    norm = BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names))
    likeliest = sample.probabilities.argmax(axis=1)
    sample.show(panel, likeliest, cmap=ListedColormap(colours), norm=norm)
    patches = [Patch(facecolor=colour, edgecolor="0.6", lw=0.5) for colour in colours]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.1}
    style: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 1}
    panel.legend(patches, names, ncols=min(len(names), 4), **place, **style)


def notes(agent: Agent, planes: list[Plane], names: list[str]) -> str:
    """Where the other coordinates are held, and what colours and marks mean."""
    lines = []
    for number, plane in enumerate(planes, 1):
        held = [name for k, name in enumerate(plane.names) if k not in (plane.i, plane.j)]
        if held:
            row = f"row {number}, " if len(planes) > 1 else ""
            lines.append(f"{row}held at the median: {', '.join(held)}")
    marks = []
    if set(names) - {"visits"}:
        marks.append("pale: far from every visited state")
        if len(planes) == 1 and agent.data.episodes():
            marks.append("line: the last episode of training")
    if "visits" in names and agent.data.columns()[4].any():
        marks.append("crosses: where episodes terminated")
    return "\n".join([*lines, "; ".join(marks)])
