"""The whole figure: panels of maps or planes, with one scale of colours per quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from powr.beliefs import Beliefs
from powr.layouts import GridMap, Layout
from powr.plots.maps import MapPanel
from powr.plots.planes import PlaneSampler
from powr.plots.quantities import QUANTITIES
from powr.render import action_names
from powr.rollout import env_name

if TYPE_CHECKING:
    from powr.agent import POWR

_WIDTH = 8.0  # of maps in inches, at most

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
            if not len(known):
                raise ValueError("the agent never was in a state of layout: map other states")
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
