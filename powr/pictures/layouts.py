"""Where states lie in a picture: the cells of a map, or planes through a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from powr.environment import actions_of, env_name, layers_of

UP, DOWN, LEFT, RIGHT = (0, 1), (0, -1), (-1, 0), (1, 0)

MOST_DIMENSIONS = 8  # two-dimensional slices of larger spaces show little

# By the class of the environment.
ACTION_NAMES = {
    "CartPoleEnv": ("left", "right"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "MountainCarEnv": ("left", "none", "right"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}
_ACROBOT = "cos angle 1", "sin angle 1", "cos angle 2", "sin angle 2", "velocity 1", "velocity 2"
COORDINATE_NAMES = {
    "AcrobotEnv": _ACROBOT,
    "CartPoleEnv": ("cart position", "cart velocity", "pole angle", "pole velocity"),
    "MountainCarEnv": ("position", "velocity"),
}
PAIRS = {"AcrobotEnv": [(1, 4), (3, 5)], "CartPoleEnv": [(2, 3), (0, 1)]}


@dataclass(frozen=True)
class GridMap:
    """Finite states as cells of one or several maps."""

    states: Mapping[str, NDArray]  # (rows, columns) of states, by the title of the map
    arrows: Sequence[tuple[int, int] | str]  # of each action: a direction (right, up), or a letter
    legend: str  # what the letters mean
    letters: Mapping[tuple[int, int], str]  # what is written in a cell, by row and column
    closed: frozenset[tuple[int, int]] = frozenset()  # cells in which no step is ever taken
    walls: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()  # (x, y) to (x, y)
    n_columns: int = 1  # maps side by side, where there are several


class Plane(NamedTuple):
    """Two coordinates of a box, by their numbers; the others are held at their medians."""

    i: int
    j: int
    names: Sequence[str]


def layout_of(env: gymnasium.Env) -> GridMap | list[Plane]:
    """The layout of an environment's states; raises ValueError if it cannot be drawn."""
    keeps_observations = keeps(env, "observation_space", gymnasium.ObservationWrapper)
    kind = kind_of(env) if keeps_observations else ""
    if kind in MAPS and keeps_actions(env):
        return MAPS[kind](env.unwrapped)
    space, name = env.observation_space, env_name(env)
    if not isinstance(space, Box):
        raise ValueError(
            f"{name} cannot be drawn: there are maps of gymnasium's CliffWalking, FrozenLake and "
            f"Taxi, without wrappers that change observations or actions, but not of {space}"
        )
    n_dimensions = math.prod(space.shape)
    if not 2 <= n_dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            f"{name} cannot be drawn: its observations have {n_dimensions} dimensions, and boxes "
            f"are drawn with 2 to {MOST_DIMENSIONS}"
        )
    names = COORDINATE_NAMES.get(kind, [f"observation {i}" for i in range(n_dimensions)])
    pairs = PAIRS.get(kind, [(i, i + 1) for i in range(0, n_dimensions - 1, 2)])
    return [Plane(i, j, names) for i, j in pairs]


def action_names(env: gymnasium.Env) -> Sequence[str]:
    """What the environment's documentation calls its actions where known, else their numbers."""
    start, n_actions = int(actions_of(env).start), int(actions_of(env).n)
    numbers = [str(start + i) for i in range(n_actions)]
    return ACTION_NAMES.get(kind_of(env), numbers) if keeps_actions(env) else numbers


def kind_of(env: gymnasium.Env) -> str:
    """The class of one of gymnasium's environments; another package may have a namesake."""
    kind = type(env.unwrapped)
    return kind.__name__ if kind.__module__.startswith("gymnasium.envs.") else ""


def keeps_actions(env: gymnasium.Env) -> bool:
    return keeps(env, "action_space", gymnasium.ActionWrapper)


def keeps(env: gymnasium.Env, space: str, kind: type[gymnasium.Wrapper]) -> bool:
    """Whether wrappers leave a space as it is, and its elements, as far as can be told."""
    is_wrapped = any(isinstance(layer, kind) for layer in layers_of(env))
    return not is_wrapped and getattr(env, space) == getattr(env.unwrapped, space)


# -- maps -----------------------------------------------------------------------------------------


def frozen_lake(env: Any) -> GridMap:
    kinds = {cell: kind.decode() for cell, kind in np.ndenumerate(env.desc)}
    return GridMap(
        states={"": np.arange(env.nrow * env.ncol).reshape(env.nrow, env.ncol)},
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
    walls = [
        ((column + 1.0, float(row)), (column + 1.0, row + 1.0))
        for row, column in np.ndindex(5, 4)
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
