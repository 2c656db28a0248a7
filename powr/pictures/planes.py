"""A plane through the states of a box, and what an agent thinks on it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from powr.beliefs import Beliefs
from powr.layouts import Plane

# Points per side of a plane, and cells per side of its visits.
_RESOLUTION = 81
_BINS = 40

# Around the visited states is drawn this share of their range.
_MARGIN = 0.04


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
