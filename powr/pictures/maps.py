"""Maps of grid worlds: cells in colour, with arrows or numbers in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from powr.agent import Agent
from powr.pictures.names import COLOURS, TITLES, kind_of, value_and_policy

# Inches: the width of all maps, at most, and of a cell.
_WIDTH, _LARGEST_CELL = 8.0, 0.75

# Actions are drawn that have at least this share of the largest probability.
_SHARE_OF_BEST = 0.5

_CLOSED, _UNVISITED = "#4D4D4D", "#EDEDED"
_UP, _DOWN, _LEFT, _RIGHT = (0, 1), (0, -1), (-1, 0), (1, 0)

Cell = tuple[int, int]


@dataclass(frozen=True)
class GridMap:
    """Finite states as cells of one or several maps."""

    states: Mapping[str, NDArray]  # (rows, columns) of states, by the title of the map
    arrows: Sequence[tuple[int, int] | str]  # of each action: a direction (right, up), or a letter
    legend: str  # what the letters mean
    letters: Mapping[Cell, str]  # what is written in a cell, by row and column
    closed: frozenset[Cell] = frozenset()  # cells in which no step is ever taken
    walls: Sequence[tuple[float, float]] = ()  # left of (x, y), one row long


def grid_map(env: gymnasium.Env) -> GridMap | None:
    """The map of FrozenLake or Taxi, if wrappers leave it as it is."""
    if not kind_of(env, "action_space", gymnasium.ActionWrapper):
        return None
    kind, inner = kind_of(env, "observation_space", gymnasium.ObservationWrapper), env.unwrapped
    return {"FrozenLakeEnv": frozen_lake, "TaxiEnv": taxi}.get(kind, lambda _: None)(inner)


def frozen_lake(env: Any) -> GridMap:
    kinds = {cell: kind.decode() for cell, kind in np.ndenumerate(env.desc)}
    return GridMap(
        states={"": np.arange(env.nrow * env.ncol).reshape(env.nrow, env.ncol)},
        arrows=(_LEFT, _DOWN, _RIGHT, _UP),
        legend="S start, H hole, G goal",
        letters={cell: kind for cell, kind in kinds.items() if kind in "SHG"},
        closed=frozenset(cell for cell, kind in kinds.items() if kind in "HG"),
    )


def taxi(env: Any) -> GridMap:
    """A map per place of the passenger and destination; the passenger is never at both."""
    stops = dict(zip("RGYB", env.locs, strict=True))
    places = [*(f"waits at {stop}" for stop in stops), "rides"]
    states = {
        f"passenger {place}, to {stop}": np.array(
            [[env.encode(row, column, i, j) for column in range(5)] for row in range(5)]
        )
        for i, place in enumerate(places)
        for j, stop in enumerate(stops)
        if i != j
    }
    is_wall = env.desc[1:6, 2:10:2] == b"|"
    return GridMap(
        states=states,
        arrows=(_DOWN, _UP, _RIGHT, _LEFT, "P", "D"),
        legend="P pick up, D drop off; thick lines are walls",
        letters={tuple(place): stop for stop, place in stops.items()},
        walls=[(column + 1.0, float(row)) for row, column in np.argwhere(is_wall)],
    )


def draw_maps(agent: Agent, layout: GridMap) -> Figure:
    """A map per quantity or, where the layout has several maps, their values with the policy."""
    cells = np.stack(list(layout.states.values()))
    n_maps, rows, columns = cells.shape
    values, probabilities = value_and_policy(agent, cells.ravel())
    probabilities = probabilities.reshape(*cells.shape, -1)
    visits = np.bincount(agent.data.columns()[0], minlength=cells.max() + 1)[cells]
    numbers = {"value": values.reshape(cells.shape), "visits": visits}
    seen = numbers["value"][visits > 0]
    scales = {
        "value": Normalize(seen.min(), max(seen.max(), seen.min() + 1e-9)),
        "visits": LogNorm(1, max(visits.max(), 2)),
    }
    is_single = n_maps == 1
    panels = [(name, 0) for name in TITLES] if is_single else [("value", k) for k in range(n_maps)]
    n_columns = 3 if is_single else 4
    n_rows = -(-len(panels) // n_columns)
    size = min(_LARGEST_CELL, _WIDTH / (columns * n_columns))
    width, height = (size * columns + 0.3) * n_columns, (size * rows + 0.36) * n_rows
    figure = Figure((width + 0.9 * (not is_single), height + 0.8), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for panel, (name, k) in zip(axes.flat, panels, strict=True):
        shades: Any = np.ones((rows, columns, 4))
        if name in numbers:
            shades = mpl.colormaps[COLOURS[name]](scales[name](numbers[name][k]))
        visited = [(int(row), int(column)) for row, column in np.argwhere(visits[k])]
        colours = {cell: to_hex(shades[cell]) for cell in visited}
        fill_cells(panel, layout, (rows, columns), colours, size)
        panel.set_title(TITLES[name] if is_single else list(layout.states)[k], fontsize=9)
        is_number = name in numbers and is_single
        places = decimals(numbers[name][k][visits[k] > 0]) if is_number else 0
        for cell, colour in colours.items():
            ink = readable_on(colour)
            if is_number:
                text = f"{numbers[name][k][cell]:,.{places}f}"
                write(panel, cell, text, ink, min(13, 55 / max(len(text), 4)) * size)
            else:
                draw_actions(panel, layout, cell, probabilities[k][cell], ink, size)
    if not is_single:
        scale = ScalarMappable(scales["value"], COLOURS["value"])
        figure.colorbar(scale, ax=axes, label=TITLES["value"], fraction=0.02, aspect=60, pad=0.01)
    legend = f"{layout.legend}; light grey: never visited; several arrows: about as probable"
    figure.supxlabel(legend, fontsize=8, color="0.35", x=0.01, ha="left")
    return figure


def fill_cells(
    panel: Axes, layout: GridMap, shape: Cell, colours: dict[Cell, str], size: float
) -> None:
    """Cells in their colours, with the letters and walls of the layout."""
    rows, columns = shape
    panel.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[])
    for row, column in np.ndindex(rows, columns):
        default = _CLOSED if (row, column) in layout.closed else _UNVISITED
        colour = colours.get((row, column), default)
        panel.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="0.75", lw=0.5))
    for (row, column), letter in layout.letters.items():
        if (row, column) in layout.closed:
            write(panel, (row, column), letter, "white", 18 * size)
        else:
            ink = readable_on(colours.get((row, column), _UNVISITED))
            points = min(14 * size + 1, 10)
            panel.text(column + 0.08, row + 0.06, letter, color=ink, va="top", fontsize=points)
    for x, y in layout.walls:
        panel.plot([x, x], [y, y + 1], color="black", lw=3)


def draw_actions(
    panel: Axes, layout: GridMap, cell: Cell, probabilities: NDArray, ink: str, size: float
) -> None:
    """The letter of the most probable action, or the arrows of those nearly as probable."""
    best = layout.arrows[int(probabilities.argmax())]
    if isinstance(best, str):
        write(panel, cell, best, ink, 22 * size)
        return
    row, column = cell
    style = {"arrowstyle": "-|>", "color": ink, "shrinkA": 0, "shrinkB": 0}
    style |= {"lw": 2.2 * size + 0.3, "mutation_scale": 14 * size + 2}
    for action in np.flatnonzero(probabilities >= _SHARE_OF_BEST * probabilities.max()):
        arrow = layout.arrows[int(action)]
        if not isinstance(arrow, str):
            tip = (column + 0.5 + 0.42 * arrow[0], row + 0.5 - 0.42 * arrow[1])
            panel.annotate("", tip, (column + 0.5, row + 0.5), arrowprops=style)


def write(panel: Axes, cell: Cell, text: str, ink: str, points: float) -> None:
    row, column = cell
    x, y = column + 0.5, row + 0.52
    panel.text(x, y, text, color=ink, fontsize=points, ha="center", va="center")


def readable_on(colour: str) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = to_rgb(colour)
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


def decimals(numbers: NDArray) -> int:
    """Decimal places that distinguish the numbers of a map, at most four."""
    if (numbers == np.round(numbers)).all():
        return 0
    extent = float(np.ptp(numbers)) or 0.1
    return int(np.clip(1 - np.floor(np.log10(extent)), 1, 4))
