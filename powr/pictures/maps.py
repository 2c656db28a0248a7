"""One map of a grid world in one panel."""

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from powr.beliefs import Beliefs
from powr.layouts import GridMap
from powr.plots.quantities import QUANTITIES

# Actions less likely than this are not drawn.
_LEAST_PROBABILITY = 0.05

_CLOSED, _UNKNOWN = "#4D4D4D", "#EDEDED"


class MapPanel:
    """One map in one panel: cells in colour, with arrows or numbers in them."""

    def __init__(self, panel: Axes, layout: GridMap, cells: NDArray, beliefs: Beliefs, size: float):
        self.panel, self.layout, self.cells, self.beliefs = panel, layout, cells, beliefs
        self.size = size  # of a cell in inches
        self.visits = beliefs.visits(cells.ravel()).reshape(cells.shape)

    def draw(self, name: str, scales: dict[str, Normalize]) -> None:
        rows, columns = self.cells.shape
        several = len(self.layout.states) > 1
        known = self.visits > 0
        if name == "policy":
            colours = {cell: "white" if known[cell] else _UNKNOWN for cell in self._open_cells()}
        else:
            numbers = self._numbers(name)
            colour_map, norm = mpl.colormaps[QUANTITIES[name].colours], scales[name]
            known |= name == "uncertainty"
            colours = {
                cell: to_hex(colour_map(norm(numbers[cell]))) if known[cell] else _UNKNOWN
                for cell in self._open_cells()
            }
        self._fill(colours)

        def ink(cell: tuple[int, int]) -> str:
            return readable_on(colours[cell])

        if name != "policy" and not several:
            self._write(numbers, known, ink)
        if name == "policy" or (several and name == "value"):
            probabilities = self.beliefs.probabilities(self.cells.ravel())
            self._point(probabilities.reshape(rows, columns, -1), ink)
        self._letter(ink)
        for (x0, y0), (x1, y1) in self.layout.walls:
            self.panel.add_line(Line2D([x0, x1], [y0, y1], color="black", lw=3))
        self.panel.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[])

    def _numbers(self, name: str) -> NDArray:
        functions: dict[str, Callable[[NDArray], NDArray]] = {
            "value": self.beliefs.values,
            "visits": self.beliefs.visits,
            "uncertainty": self.beliefs.uncertainty,
        }
        return functions[name](self.cells.ravel()).reshape(self.cells.shape)

    def _open_cells(self) -> list[tuple[int, int]]:
        every = [(int(row), int(column)) for row, column in np.ndindex(self.cells.shape)]
        return [cell for cell in every if cell not in self.layout.closed]

    def _fill(self, colours: dict[tuple[int, int], str]) -> None:
        for cell in np.ndindex(self.cells.shape):
            colour = colours.get(cell, _CLOSED)
            row, column = cell
            self.panel.add_patch(
                Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="0.75", lw=0.5)
            )

    def _write(self, numbers: NDArray, known: NDArray, colour_of: Callable[[Any], str]) -> None:
        """The number in each cell."""
        places = decimals(numbers[known]) if known.any() else 0
        for cell in self._open_cells():
            if known[cell]:
                text = f"{numbers[cell]:,.{places}f}"
                self._text(cell, text, colour_of(cell), size=min(13, 55 / max(len(text), 4)))

    def _point(self, probabilities: NDArray, colour_of: Callable[[Any], str]) -> None:
        """An arrow or a letter per action that may be taken; several arrows start in the middle."""
        for cell in self._open_cells():
            if not self.visits[cell]:
                continue
            taken = [
                mark
                for mark, probability in zip(self.layout.arrows, probabilities[cell], strict=True)
                if probability >= _LEAST_PROBABILITY
            ]
            for mark in taken:
                if isinstance(mark, str):
                    self._text(cell, mark, colour_of(cell), size=22, weight="bold")
                else:
                    self._arrow(cell, mark, colour_of(cell), alone=len(taken) == 1)

    def _arrow(
        self, cell: tuple[int, int], mark: tuple[int, int], colour: str, alone: bool
    ) -> None:
        (row, column), (right, up) = cell, mark
        ahead, behind = (0.34, 0.34) if alone else (0.42, 0.0)
        self.panel.annotate(
            "",
            (column + 0.5 + ahead * right, row + 0.5 - ahead * up),
            (column + 0.5 - behind * right, row + 0.5 + behind * up),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "lw": 2.2 * self.size + 0.3,
                "mutation_scale": 14 * self.size + 2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )

    def _text(self, cell: tuple[int, int], text: str, colour: str, size: float, **kw: Any) -> None:
        row, column = cell
        self.panel.text(
            column + 0.5,
            row + 0.52,
            text,
            color=colour,
            ha="center",
            va="center",
            fontsize=size * self.size,
            **kw,
        )

    def _letter(self, colour_of: Callable[[Any], str]) -> None:
        """What stands in a cell: large where the cell is closed, else in its corner."""
        for cell, letter in self.layout.letters.items():
            if cell in self.layout.closed:
                self._text(cell, letter, "white", size=18)
            else:
                row, column = cell
                self.panel.text(
                    column + 0.08,
                    row + 0.06,
                    letter,
                    color=colour_of(cell),
                    va="top",
                    fontsize=min(14 * self.size + 1, 10),
                )


def readable_on(colour: Any) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = to_rgb(colour)
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


def decimals(numbers: NDArray) -> int:
    """As many as tell the numbers of a map apart, within reason."""
    if (numbers == np.round(numbers)).all():
        return 0
    extent = float(np.ptp(numbers))
    return int(np.clip(1 - np.floor(np.log10(extent)), 1, 4)) if extent > 0 else 2
