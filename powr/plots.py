"""Pictures of what an agent thinks: value, policy, visits and uncertainty over its states.

A map for grid worlds, the plane for two dimensions, slices elsewhere. Needs matplotlib.

>>> from powr import POWR
>>> figure = draw(POWR("MountainCar-v0", seed=0).learn(300))
>>> figure.savefig("thoughts.png")  # doctest: +SKIP
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from powr.beliefs import Beliefs, beliefs_of, history_of_beliefs
from powr.files import check_destination, written_aside
from powr.layouts import GridMap, Layout, Plane, layout_of
from powr.render import action_names, write_gif
from powr.rollout import env_name

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import (
        BoundaryNorm,
        ListedColormap,
        LogNorm,
        Normalize,
        to_hex,
        to_rgb,
    )
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, Rectangle
    from PIL import Image
except ImportError as error:
    raise ImportError("pictures need matplotlib: pip install 'powr[plots]'") from error

if TYPE_CHECKING:
    from powr.agent import POWR

# Points per side of a plane, and cells per side of its visits.
_RESOLUTION = 81
_BINS = 40

# Around the visited states is drawn this share of their range.
_MARGIN = 0.04

_WIDTH = 8.0  # of maps in inches, at most
_MOMENTS = 24
_FRAME_MS = 400
_DOTS_PER_INCH, _DOTS_OF_ANIMATION = 110, 80

# Actions less likely than this are not drawn.
_LEAST_PROBABILITY = 0.05

_CLOSED, _UNKNOWN = "#4D4D4D", "#EDEDED"
# Of actions; the middle one of three is nearly always "do nothing".
_THREE_COLOURS = ("#4C78A8", "#E8E2D0", "#E4743B")
_COLOURS = ("#4C78A8", "#E4743B", "#54A24B", "#EECA3B", "#B279A2", "#72B7B2", "#9D755D", "#E8E2D0")
_STYLE: Any = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
}


class Quantity(NamedTuple):
    """One of the four things to see."""

    title: str
    colours: str
    meaning: str


QUANTITIES = {
    "value": Quantity("Value", "viridis", "expected discounted return"),
    "policy": Quantity("Policy", "", "the likeliest action"),
    "visits": Quantity("Visits", "Blues", "times that a state was seen, log scale"),
    "uncertainty": Quantity("Uncertainty", "Oranges", "0: known, 1: nothing is known"),
}


# -- pictures and animations ----------------------------------------------------------------------


def draw(agent: POWR, *, show: Sequence[str] | None = None, layout: Layout | None = None) -> Figure:
    """What an agent thinks, as a matplotlib figure.

    Parameters
    ----------
    agent : a trained agent.
    show : some of "value", "policy", "visits" and "uncertainty"; default: all of them, or the value
        with the policy on it where there are several maps.
    layout : how states lie on paper. Default: from the environment, see `powr.layouts`.
    """
    layout = layout_of(agent.env) if layout is None else layout
    beliefs = beliefs_of(agent)
    return Drawing(agent, layout, chosen(show, layout), beliefs).draw(beliefs)


def explain(
    agent: POWR,
    path: str | Path,
    *,
    show: Sequence[str] | None = None,
    layout: Layout | None = None,
) -> None:
    """Write what an agent thinks to `path`: a picture (.png) or an animation over training (.gif).

    The animation makes the plans of training again, from the transitions up to each moment.
    """
    check_destination(path)
    suffix = Path(path).suffix
    if suffix not in (".png", ".gif"):
        raise ValueError(
            f"{path} cannot be written: its name must end in .png for a picture or in .gif for an "
            "animation over training"
        )
    if suffix == ".png":
        with written_aside(path) as file:
            draw(agent, show=show, layout=layout).savefig(file, format="png", dpi=_DOTS_PER_INCH)
        return
    layout = layout_of(agent.env) if layout is None else layout
    drawing = Drawing(agent, layout, chosen(show, layout), beliefs_of(agent))
    moments = history_of_beliefs(agent, _MOMENTS)
    write_gif([picture(drawing.draw(beliefs)) for beliefs in moments], path, frame_ms=_FRAME_MS)


def chosen(show: Sequence[str] | None, layout: Layout) -> list[str]:
    """The quantities to draw, checked."""
    n_maps = len(layout.states) if isinstance(layout, GridMap) else 1
    if show is None:
        return ["value"] if n_maps > 1 else list(QUANTITIES)
    for name in show:
        if name not in QUANTITIES:
            raise ValueError(f"show must be some of {', '.join(QUANTITIES)}, got {name!r}")
    if n_maps > 1 and len(show) != 1:
        raise ValueError(f"there are {n_maps} maps per quantity: show one quantity alone")
    return list(dict.fromkeys(show))


def picture(figure: Figure) -> Image.Image:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DOTS_OF_ANIMATION)
    return Image.open(buffer).convert("RGB")


class Drawing:
    """A figure's layout, with colours and axes that hold for a whole animation: its last moment's.

    Attributes
    ----------
    scales : of each quantity that is shown in colour.
    """

    def __init__(self, agent: POWR, layout: Layout, show: list[str], last: Beliefs):
        self.name, self.actions = env_name(agent.env), list(action_names(agent.env))
        self.layout, self.show = layout, show
        self.planes: list[PlaneSampler] = []
        if isinstance(layout, GridMap):
            states = np.concatenate([cells.ravel() for cells in layout.states.values()])
            known = states[last.visits(states) > 0]
            visits, values = last.visits(known), last.values(known)
        else:
            self.planes = [PlaneSampler(plane, last) for plane in layout]
            visits = np.concatenate([plane.look(last)["visits"] for plane in self.planes])
            values = np.concatenate([plane.look(last)["value"] for plane in self.planes])
        self.scales = {
            "value": Normalize(values.min(), max(values.max(), values.min() + 1e-9)),
            "visits": LogNorm(1, max(visits.max(), 2)),
            "uncertainty": Normalize(0, 1),
        }
        if self.planes:
            doubt = max(plane.look(last)["uncertainty"].max() for plane in self.planes)
            self.scales["uncertainty"] = Normalize(0, max(doubt, 1e-9))

    def draw(self, beliefs: Beliefs) -> Figure:
        with mpl.rc_context(_STYLE):
            if isinstance(self.layout, GridMap):
                figure = self._draw_maps(self.layout, beliefs)
            else:
                figure = self._draw_planes(beliefs)
            figure.suptitle(
                f"What POWR thinks of {self.name} after {beliefs.timestep:,} timesteps",
                fontsize=12,
                fontweight="bold",
                x=0.01,
                ha="left",
            )
        return figure

    # -- maps -------------------------------------------------------------------------------------

    def _draw_maps(self, layout: GridMap, beliefs: Beliefs) -> Figure:
        if len(layout.states) == 1:
            ((_, cells),) = layout.states.items()
            panels = [(name, cells, QUANTITIES[name].title) for name in self.show]
            n_columns = 2 if len(panels) > 1 and cells.shape[1] <= 2 * cells.shape[0] else 1
        else:
            (name,) = self.show
            panels = [(name, cells, title) for title, cells in layout.states.items()]
            n_columns = layout.n_columns
        n_rows = -(-len(panels) // n_columns)
        rows, columns = panels[0][1].shape
        cell = min(0.75, _WIDTH / (columns * n_columns))
        size = (cell * columns * n_columns + 0.9 * n_columns, (cell * rows + 0.62) * n_rows + 0.75)
        figure = Figure(size, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False)
        for panel in axes.ravel():
            panel.set_axis_off()
        for panel, (name, cells, title) in zip(axes.ravel(), panels, strict=False):
            panel.set_axis_on()
            MapPanel(panel, layout, cells, beliefs, cell).draw(name, self.scales)
            shown = QUANTITIES[name]
            single = len(layout.states) == 1
            panel.set_title(f"{shown.title}: {shown.meaning}" if single else title, fontsize=9)
        if len(layout.states) > 1 and name != "policy":
            scale = ScalarMappable(self.scales[name], QUANTITIES[name].colours)
            label = f"{QUANTITIES[name].title}: {QUANTITIES[name].meaning}"
            figure.colorbar(scale, ax=axes, label=label, fraction=0.02, aspect=60, pad=0.01)
        self._note_maps(figure, layout)
        return figure

    def _note_maps(self, figure: Figure, layout: GridMap) -> None:
        notes = [layout.legend, "light grey: never left, dark: the episode ends or starts over"]
        figure.supxlabel("\n".join(notes), fontsize=8, color="0.35", x=0.01, ha="left")

    # -- planes -----------------------------------------------------------------------------------

    def _draw_planes(self, beliefs: Beliefs) -> Figure:
        if len(self.planes) == 1:
            n_columns = 2 if len(self.show) > 1 else 1
            n_rows = -(-len(self.show) // n_columns)
            panels = [(self.planes[0], name) for name in self.show]
        else:
            n_rows, n_columns = len(self.planes), len(self.show)
            panels = [(plane, name) for plane in self.planes for name in self.show]
        figure = Figure((0.3 + 4.1 * n_columns, 0.6 + 3.3 * n_rows), layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False)
        for panel in axes.ravel()[len(panels) :]:
            panel.set_axis_off()
        for panel, (plane, name) in zip(axes.ravel(), panels, strict=False):
            self._draw_plane(panel, plane, name, beliefs)
        notes = [plane.plane.held for plane in self.planes if plane.plane.held]
        notes = [f"row {number}: {note}" for number, note in enumerate(notes, 1)]
        ends = "crosses: where episodes ended" if beliefs.columns[4].any() else ""
        path = "line: the last episode of training" if self._shows_episode(beliefs) else ""
        notes.append("; ".join(note for note in (path, ends) if note))
        figure.supxlabel("\n".join(notes), fontsize=8, color="0.35", x=0.01, ha="left")
        return figure

    def _draw_plane(self, panel: Axes, sampler: PlaneSampler, name: str, beliefs: Beliefs) -> None:
        shown = QUANTITIES[name]
        if name == "policy":
            palette = _THREE_COLOURS if len(self.actions) == 3 else _COLOURS
            colours = [palette[i % len(palette)] for i in range(len(self.actions))]
            norm = BoundaryNorm(np.arange(len(self.actions) + 1) - 0.5, len(self.actions))
            likeliest = sampler.look(beliefs)[name]
            sampler.show(panel, likeliest, cmap=ListedColormap(colours), norm=norm)
            handles = [
                Patch(facecolor=colour, edgecolor="0.6", lw=0.5, label=action)
                for colour, action in zip(colours, self.actions, strict=True)
            ]
            panel.legend(
                handles=handles,
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                ncols=min(len(handles), 4),
                frameon=False,
                fontsize=8,
                handlelength=1,
                borderpad=0.1,
            )
        else:
            numbers = sampler.look(beliefs)[name]
            image = sampler.show(panel, numbers, cmap=shown.colours, norm=self.scales[name])
            panel.figure.colorbar(image, ax=panel, fraction=0.05, pad=0.02)
        self._draw_experience(panel, sampler, name, beliefs)
        title = f"{shown.title}: {shown.meaning}"
        panel.set_title(title, pad=18 if name == "policy" else 6)
        panel.set_xlabel(sampler.plane.x)
        panel.set_ylabel(sampler.plane.y)
        panel.set_xlim(sampler.extent[:2])
        panel.set_ylim(sampler.extent[2:])

    def _shows_episode(self, beliefs: Beliefs) -> bool:
        return len(self.planes) == 1 and len(beliefs.last_episode) > 0

    def _draw_experience(
        self, panel: Axes, sampler: PlaneSampler, name: str, beliefs: Beliefs
    ) -> None:
        """Where episodes ended and, where a plane is all there is to see, the last one of them."""
        if name in ("value", "policy") and self._shows_episode(beliefs):
            path = sampler.plane.project(beliefs.last_episode)
            panel.plot(*path.T, color="white", lw=2.2, alpha=0.9)
            panel.plot(*path.T, color="black", lw=0.9)
            panel.plot(*path[0], "o", ms=5, color="black", mec="white")
        ends = beliefs.columns[3][beliefs.columns[4]]
        if name == "visits" and len(ends):
            panel.plot(*sampler.plane.project(ends).T, "x", ms=3, mew=0.7, color="#B2182B")


class PlaneSampler:
    """A plane with the states that are looked at: a lattice over what was visited."""

    def __init__(self, plane: Plane, last: Beliefs):
        self.plane = plane
        visited = np.vstack([last.columns[0], last.columns[3]])
        points = plane.project(visited)
        low, high = points.min(axis=0), points.max(axis=0)
        margin = _MARGIN * np.where(high > low, high - low, 1.0)
        (x0, y0), (x1, y1) = low - margin, high + margin
        self.extent = (float(x0), float(x1), float(y0), float(y1))
        x, y = np.linspace(x0, x1, _RESOLUTION), np.linspace(y0, y1, _RESOLUTION)
        lattice = np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])
        self.states = plane.embed(lattice, np.median(visited, axis=0))

        self._looked: tuple[Beliefs | None, dict[str, NDArray]] = (None, {})

    def look(self, beliefs: Beliefs) -> dict[str, NDArray]:
        """Each quantity over the plane, row by row from below; worked out once per moment."""
        if self._looked[0] is not beliefs:
            values, probabilities = beliefs.values_and_probabilities(self.states)
            seen = {
                "value": values,
                "policy": probabilities.argmax(axis=1),
                "visits": self._visits(beliefs),
                "uncertainty": beliefs.uncertainty(self.states),
            }
            self._looked = (beliefs, seen)
        return self._looked[1]

    def _visits(self, beliefs: Beliefs) -> NDArray:
        x, y = self.plane.project(beliefs.columns[0]).T
        bounds = [self.extent[:2], self.extent[2:]]
        counts = np.histogram2d(x, y, bins=_BINS, range=bounds)[0].T.ravel()
        return np.ma.masked_equal(counts, 0)

    def show(self, panel: Axes, values: NDArray, **options: Any) -> Any:
        side = round(len(values) ** 0.5)
        return panel.imshow(
            values.reshape(side, side),
            extent=self.extent,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            **options,
        )


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
