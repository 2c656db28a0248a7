"""Tile coding: a point is represented by the tiles that contain it, one per shifted grid.

Sutton and Barto, "Reinforcement learning", 2nd edition, Section 9.5.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Maximum total number of tiles; more indicate too many dimensions.
_MOST_TILES = 1_000_000


class TileCoder:
    """Grids over the unit cube, each shifted by a different fraction of a tile.

    Attributes:
        n_tiles: total number of tiles of all grids.

    >>> TileCoder(n_dimensions=1, n_tilings=2, tiles=4)(np.array([[0.0], [0.2]]))
    array([[0, 5],
           [0, 6]])
    """

    def __init__(self, *, n_dimensions: int, n_tilings: int, tiles: int) -> None:
        # A shifted grid needs one extra tile per dimension to cover the cube.
        self._shape = (tiles + 1,) * n_dimensions
        per_tiling = (tiles + 1) ** n_dimensions
        self.n_tiles = n_tilings * per_tiling
        if self.n_tiles > _MOST_TILES:
            raise ValueError(
                f"{n_tilings} tilings of {tiles} tiles in each of {n_dimensions} dimensions are "
                f"{self.n_tiles:,} tiles, more than {_MOST_TILES:,}: choose fewer tiles, or an "
                "environment of fewer dimensions"
            )
        # Shifts by the first odd numbers (1, 3, 5, ...) avoid directional artefacts.
        odd = 2 * np.arange(n_dimensions) + 1
        self._shifts = (np.arange(n_tilings)[:, None] * odd % n_tilings) / n_tilings
        self._first = np.arange(n_tilings) * per_tiling
        self._tiles = tiles

    def __call__(self, points: NDArray) -> NDArray:
        """The tiles that contain points of the unit cube: (n, n_dimensions) -> (n, n_tilings)."""
        places = (points[:, None, :] * self._tiles + self._shifts).astype(int)
        places = np.minimum(places, self._tiles)
        return self._first + np.ravel_multi_index(np.moveaxis(places, 2, 0), self._shape)
