"""How states lie on paper: cells of a map, points of a plane, slices through a space."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from numpy.typing import NDArray

from powr.fingerprint import layers_of
from powr.rollout import env_name
from powr.spaces import actions_of, finite_parts, is_finite

UP, DOWN, LEFT, RIGHT = (0, 1), (0, -1), (-1, 0), (1, 0)

# Slices through a space of more dimensions than this say little.
MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class GridMap:
    """Finite states as cells of a map.

    Attributes
    ----------
    states : (rows, columns) of state numbers by title; in closed cells any number, such as -1.
    arrows : what each action looks like: a direction (right, up), or a letter.
    legend : what the letters mean.
    letters : what stands in a cell, by its number of row and column.
    closed : cells in which no step is ever taken.
    walls : lines between cells, from (x, y) to (x, y) in cells from the upper left corner.
    n_columns : maps side by side, where there are several.
    """

    states: Mapping[str, NDArray]
    arrows: Sequence[tuple[int, int] | str]
    legend: str = ""
    letters: Mapping[tuple[int, int], str] = field(default_factory=dict)
    closed: frozenset[tuple[int, int]] = frozenset()
    walls: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    n_columns: int = 1


@dataclass(frozen=True)
class Plane:
    """Two coordinates of a box; the others are held where they are usual.

    Attributes
    ----------
    x, y : the names of the coordinates.
    project : observations to points, (n, d) to (n, 2).
    embed : points to observations, given the usual one, (n, 2) and (d,) to (n, d).
    held : what is said about the other coordinates.
    """

    x: str
    y: str
    project: Callable[[NDArray], NDArray]
    embed: Callable[[NDArray, NDArray], NDArray]
    held: str = ""


Layout = GridMap | Sequence[Plane]


def layout_of(env: gymnasium.Env) -> Layout:
    """The layout of an environment's states; an error says why there is none.

    What a wrapper changes lies nowhere that is known; `layout_of(env.unwrapped)` is blind to it.
    """
    kind = known_kind(env)
    if kind in MAPS and keeps_actions(env):
        return MAPS[kind](env.unwrapped)
    space, name = env.observation_space, env_name(env)
    if not isinstance(space, Box):
        raise ValueError(
            f"{name} cannot be drawn: no map is known of its observations, {space}. Maps are known "
            "of gymnasium's CliffWalking, FrozenLake and Taxi without wrappers that change "
            "observations or actions; elsewhere call, in Python, "
            "powr.plots.draw(agent, layout=powr.layouts.GridMap(...))"
        )
    n_dimensions = int(np.prod(space.shape))
    if not 2 <= n_dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            f"{name} cannot be drawn: its observations have {n_dimensions} dimensions, and planes "
            f"and slices are drawn of 2 to {MOST_DIMENSIONS}"
        )
    if kind == "AcrobotEnv":
        return acrobot_planes()
    names = NAMES.get(kind, [f"observation {i}" for i in range(n_dimensions)])
    pairs = PAIRS.get(kind) or [(i, i + 1) for i in range(0, n_dimensions - 1, 2)]
    return [coordinate_plane(names, i, j) for i, j in pairs]


def check_layout(layout: Layout, env: gymnasium.Env) -> None:
    """Refuse a layout that the states or actions of an environment do not fit into."""
    space, name = env.observation_space, env_name(env)
    if isinstance(layout, GridMap) != is_finite(space):
        expected = "a GridMap" if is_finite(space) else "planes, or left out,"
        raise ValueError(f"layout must be {expected} for the observations of {name}, {space}")
    if isinstance(layout, GridMap):
        n_actions = int(actions_of(env).n)
        if len(layout.arrows) != n_actions:
            raise ValueError(
                f"layout has {len(layout.arrows)} arrows, but {name} has {n_actions} actions: give "
                "each action a direction or a letter"
            )
        check_cells(layout, space)


def check_cells(layout: GridMap, space: Space) -> None:
    first = int(space.start) if isinstance(space, Discrete) else 0
    last = first + math.prod(int(size) for part in finite_parts(space) for size in part.sizes) - 1
    if not isinstance(layout.states, Mapping) or not layout.states:
        raise ValueError(f'layout.states must be maps by title, {{"": map}}, got {layout.states!r}')
    for title, cells in layout.states.items():
        if not isinstance(cells, np.ndarray) or cells.ndim != 2:
            raise ValueError(
                f"layout.states[{title!r}] must be an array of rows and columns, got "
                f"{type(cells).__name__} of shape {np.shape(cells)}"
            )
        for cell, state in np.ndenumerate(cells):
            if cell not in layout.closed and not first <= state <= last:
                raise ValueError(
                    f"layout.states[{title!r}] has the state {state} in cell {cell}, but states "
                    f"are numbered from {first} to {last}: correct it, or name the cell in closed"
                )


def known_kind(env: gymnasium.Env) -> str:
    """The class of an environment of gymnasium's that is observed as it is; "" of any other."""
    kind = type(env.unwrapped)
    # Another package may have a class of the same name with states that mean something else.
    is_known = kind.__module__.startswith("gymnasium.envs.") and keeps_observations(env)
    return kind.__name__ if is_known else ""


def keeps_observations(env: gymnasium.Env) -> bool:
    """Whether no wrapper changes what the environment shows, as far as can be told."""
    same_space = env.observation_space == env.unwrapped.observation_space
    return same_space and not is_wrapped(env, gymnasium.ObservationWrapper)


def keeps_actions(env: gymnasium.Env) -> bool:
    """Whether no wrapper changes what an action means, as far as can be told."""
    same_space = env.action_space == env.unwrapped.action_space
    return same_space and not is_wrapped(env, gymnasium.ActionWrapper)


def is_wrapped(env: gymnasium.Env, kind: type[gymnasium.Wrapper]) -> bool:
    return any(isinstance(layer, kind) for layer in layers_of(env))


# -- maps -----------------------------------------------------------------------------------------


def frozen_lake(env: Any) -> GridMap:
    cells = [(row, column) for row in range(env.nrow) for column in range(env.ncol)]
    kinds = {cell: env.desc[cell].decode() for cell in cells}
    return GridMap(
        states={"": np.arange(len(cells)).reshape(env.nrow, env.ncol)},
        arrows=(LEFT, DOWN, RIGHT, UP),
        legend="S start, H hole, G goal",
        letters={cell: kind for cell, kind in kinds.items() if kind in "SHG"},
        closed=frozenset(cell for cell, kind in kinds.items() if kind in "HG"),
    )


def cliff_walking(env: Any) -> GridMap:
    rows, columns = env.shape
    cliff = [(rows - 1, column) for column in range(1, columns - 1)]
    goal, start = (rows - 1, columns - 1), (rows - 1, 0)
    return GridMap(
        states={"": np.arange(rows * columns).reshape(rows, columns)},
        arrows=(UP, RIGHT, DOWN, LEFT),
        legend="S start, C cliff, G goal",
        letters={start: "S", goal: "G", **dict.fromkeys(cliff, "C")},
        closed=frozenset([goal, *cliff]),
    )


def taxi(env: Any) -> GridMap:
    """A map per place of the passenger and destination; the passenger is never at both."""
    rows, columns = 5, 5
    stops = dict(zip("RGYB", env.locs, strict=True))
    waiting = [*(f"waits at {stop}" for stop in stops), "rides"]
    states = {
        f"passenger {place}, to {stop}": np.array(
            [
                [env.encode(row, column, passenger, destination) for column in range(columns)]
                for row in range(rows)
            ]
        )
        for passenger, place in enumerate(waiting)
        for destination, stop in enumerate(stops)
        if passenger != destination
    }
    walls = [
        ((column + 1.0, float(row)), (column + 1.0, row + 1.0))
        for row in range(rows)
        for column in range(columns - 1)
        if env.desc[row + 1, 2 * column + 2] == b"|"
    ]
    return GridMap(
        states=states,
        arrows=(DOWN, UP, RIGHT, LEFT, "P", "D"),
        legend="P pick up, D drop off; thick lines are walls",
        letters={tuple(place): stop for stop, place in stops.items()},
        walls=walls,
        n_columns=4,
    )


MAPS: dict[str, Callable[[Any], GridMap]] = {
    "CliffWalkingEnv": cliff_walking,
    "FrozenLakeEnv": frozen_lake,
    "TaxiEnv": taxi,
}

# -- planes ---------------------------------------------------------------------------------------

NAMES = {
    "CartPoleEnv": ("cart position", "cart velocity", "pole angle", "pole velocity"),
    "MountainCarEnv": ("position", "velocity"),
}
PAIRS = {"CartPoleEnv": [(2, 3), (0, 1)]}


def coordinate_plane(names: Sequence[str], i: int, j: int) -> Plane:
    def embed(points: NDArray, usual: NDArray) -> NDArray:
        states = np.tile(usual, (len(points), 1))
        states[:, [i, j]] = points
        return states

    others = [name for number, name in enumerate(names) if number not in (i, j)]
    return Plane(names[i], names[j], lambda states: states[:, [i, j]], embed, held(others))


def acrobot_planes() -> list[Plane]:
    """Slices over the angles, which are observed as cosines and sines, and their velocities."""
    names = ("angle of link 1", "angle of link 2", "velocity of link 1", "velocity of link 2")

    def coordinates(states: NDArray) -> NDArray:
        angles = np.arctan2(states[:, [1, 3]], states[:, [0, 2]])
        return np.hstack([angles, states[:, 4:]])

    def observations(points: NDArray) -> NDArray:
        first, second = points[:, 0], points[:, 1]
        angles = [np.cos(first), np.sin(first), np.cos(second), np.sin(second)]
        return np.column_stack([*angles, points[:, 2:]])

    def plane(i: int, j: int) -> Plane:
        inner = coordinate_plane(names, i, j)
        return Plane(
            inner.x,
            inner.y,
            lambda states: coordinates(states)[:, [i, j]],
            lambda points, usual: observations(inner.embed(points, coordinates(usual[None])[0])),
            inner.held,
        )

    return [plane(0, 2), plane(1, 3)]


def held(names: Sequence[str]) -> str:
    return f"at the median of {', '.join(names)}" if names else ""
