"""The floor of MountainCar: the fastest climb from the best start."""

import numpy as np
from gymnasium.envs.classic_control import MountainCarEnv
from numpy.typing import NDArray

from suite.floor.finite import PRECISION

# Where episodes begin, at rest; the environment has no attribute that says it.
_STARTS = (-0.6, -0.4)


def fastest_climb(car: MountainCarEnv, cells: int = 1000) -> tuple[int, int]:
    """Bounds on the steps of the fastest way to the goal from the best start.

    The state space is cut into cells, `cells` per dimension. For the lower bound a cell is reached
    if any state of a cell reached before may step into it. For the upper bound one state per cell
    is followed, on a true way from a start.
    """
    return _steps_to_goal(car, cells, whole=True), _steps_to_goal(car, cells, whole=False)


def _steps_to_goal(car: MountainCarEnv, cells: int, *, whole: bool) -> int:
    """Steps until the goal is met by boxes of states: whole cells, or boxes that are one state."""
    corner = np.array([[car.min_position], [-car.max_speed]])
    size = (np.array([[car.max_position], [car.max_speed]]) - corner) / cells
    edges = np.linspace(*_STARTS, cells + 1)
    low = np.stack([edges[:-1], np.zeros(cells)])
    high = np.stack([edges[1:] if whole else edges[:-1], np.zeros(cells)])
    reached = np.zeros(cells**2, bool)
    steps = 0
    while True:
        steps += 1
        low, high = np.concatenate([_push(car, low, high, way) for way in (-1, 0, 1)], axis=2)
        if ((high[0] >= car.goal_position) & (high[1] >= car.goal_velocity)).any():
            return steps
        first, last = (
            np.clip((edge - corner) / size + margin, 0, cells - 1).astype(int)
            for edge, margin in ((low, -PRECISION), (high, PRECISION))
        )
        if not whole:
            last = first
        numbers, boxes = _cells_between(first, last, cells)
        box_of = np.full(cells**2, -1)
        box_of[numbers] = boxes
        box_of[reached] = -1
        new = np.flatnonzero(box_of >= 0)
        reached[new] = True
        if whole:
            low = corner + size * np.stack(np.divmod(new, cells))
            high = low + size
        else:
            low = high = low[:, box_of[new]]


def _push(car: MountainCarEnv, low: NDArray, high: NDArray, way: int) -> NDArray:
    """Where a push takes boxes of states, low to high in (position, speed): boxes that hold it."""
    # cos(3x) changes by at most three times as much as x.
    slope, slack = np.cos(1.5 * (low[0] + high[0])), 1.5 * (high[0] - low[0])
    speeds = np.stack([low[1] - car.gravity * slack, high[1] + car.gravity * slack])
    speeds += way * car.force - car.gravity * slope
    speeds = speeds.clip(-car.max_speed, car.max_speed)
    positions = (np.stack([low[0], high[0]]) + speeds).clip(car.min_position, car.max_position)
    # The wall at the left stops the car.
    stopped = positions[::-1] <= car.min_position
    speeds = np.where(stopped, np.maximum(speeds, 0.0), speeds)
    return np.stack([positions, speeds], axis=1)


def _cells_between(first: NDArray, last: NDArray, cells: int) -> tuple[NDArray, NDArray]:
    """The numbers of the cells from `first` to `last`, and to which box of these each belongs."""
    rows, columns = ((last - first).max(axis=1) + 1).tolist()
    numbers = [
        np.minimum(first[0] + i, last[0]) * cells + np.minimum(first[1] + j, last[1])
        for i in range(rows)
        for j in range(columns)
    ]
    return np.concatenate(numbers), np.tile(np.arange(first.shape[1]), len(numbers))
