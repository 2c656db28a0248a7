"""Maps of grid worlds: cells in colour, with arrows or numbers in them."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from powr.agent import Agent
from powr.pictures.layouts import GridMap
from powr.pictures.quantities import COLOURS, QUANTITIES, value_and_policy

# Inches: the width of all maps, at most, and of a cell.
_WIDTH, _LARGEST_CELL = 8.0, 0.75

# Actions are drawn that have at least this share of the largest probability.
_SHARE_OF_BEST = 0.5

_CLOSED, _UNVISITED, _POLICY = "#4D4D4D", "#EDEDED", "#FFFFFF"

Cell = tuple[int, int]


def draw_maps(agent: Agent, layout: GridMap, names: list[str]) -> Figure:
    """A map per quantity or, where the layout has several maps, all of them for one quantity."""
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

    n_columns = layout.n_columns if n_maps > 1 else len(names) if columns <= 2 * rows else 1
    n_rows = -(-n_maps * len(names) // n_columns)
    size = min(_LARGEST_CELL, _WIDTH / (columns * n_columns))
    width, height = (size * columns + 0.3) * n_columns, (size * rows + 0.36) * n_rows
    figure = Figure((width + 0.9 * (n_maps > 1), height + 0.8), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    panels = [(name, k) for name in names for k in range(n_maps)]
    for panel, (name, k) in zip(axes.flat, panels, strict=True):
        visited = [(int(row), int(column)) for row, column in np.argwhere(visits[k])]
        if name == "policy":
            colours = dict.fromkeys(visited, _POLICY)
        else:
            shades = mpl.colormaps[COLOURS[name]](scales[name](numbers[name][k]))
            colours = {cell: to_hex(shades[cell]) for cell in visited}
        fill_cells(panel, layout, cells[k].shape, colours, size)
        if name == "policy" or (n_maps > 1 and name == "value"):
            for cell, colour in colours.items():
                draw_actions(panel, layout, cell, probabilities[k][cell], readable_on(colour), size)
        elif n_maps == 1:
            places = decimals(numbers[name][k][visits[k] > 0])
            for cell, colour in colours.items():
                text = f"{numbers[name][k][cell]:,.{places}f}"
                points = min(13, 55 / max(len(text), 4)) * size
                write(panel, cell, text, readable_on(colour), points)
        title = QUANTITIES[name] if n_maps == 1 else list(layout.states)[k]
        panel.set_title(title, fontsize=9 if n_maps == 1 else 8)
    if n_maps > 1 and name in scales:
        scale = ScalarMappable(scales[name], COLOURS[name])
        figure.colorbar(scale, ax=axes, label=QUANTITIES[name], fraction=0.02, aspect=60, pad=0.01)
    notes = ["light grey: never visited"]
    if layout.closed:
        notes.append("dark: the episode ends or starts over")
    if "policy" in names or (n_maps > 1 and "value" in names):
        notes.append("several arrows: about as probable")
    legend = f"{layout.legend}\n{'; '.join(notes)}"
    figure.supxlabel(legend, fontsize=8, color="0.35", x=0.01, ha="left")
    return figure


def fill_cells(
    panel: Axes, layout: GridMap, shape: tuple[int, ...], colours: dict[Cell, str], size: float
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
    for (x0, y0), (x1, y1) in layout.walls:
        panel.plot([x0, x1], [y0, y1], color="black", lw=3)


def draw_actions(
    panel: Axes, layout: GridMap, cell: Cell, probabilities: NDArray, ink: str, size: float
) -> None:
    """The letter of the most probable action, or the arrows of those nearly as probable."""
    best = layout.arrows[int(probabilities.argmax())]
    if isinstance(best, str):
        write(panel, cell, best, ink, 22 * size)
        return
    likely = np.flatnonzero(probabilities >= _SHARE_OF_BEST * probabilities.max())
    marks = [layout.arrows[int(action)] for action in likely]
    drawn = [mark for mark in marks if not isinstance(mark, str)]
    ahead, behind = (0.34, 0.34) if len(drawn) == 1 else (0.42, 0.0)
    style = {"arrowstyle": "-|>", "color": ink, "shrinkA": 0, "shrinkB": 0}
    style |= {"lw": 2.2 * size + 0.3, "mutation_scale": 14 * size + 2}
    row, column = cell
    for right, up in drawn:
        tip = (column + 0.5 + ahead * right, row + 0.5 - ahead * up)
        tail = (column + 0.5 - behind * right, row + 0.5 + behind * up)
        panel.annotate("", tip, tail, arrowprops=style)


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
    extent = float(np.ptp(numbers))
    return int(np.clip(1 - np.floor(np.log10(extent)), 1, 4)) if extent > 0 else 2
