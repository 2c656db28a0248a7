"""The upper bound of a finite task: the shortest of some tours that were found."""

import numpy as np
from numpy.typing import NDArray

from powr.tabular import TabularMDP
from suite.floor.task import END, PRECISION, Task, distances_of

# So near to 1 that an optimal policy of the discounted task is one of the episode's return.
_GAMMA = 0.9999

# Tours tried, which differ in how ties are broken.
_TOURS = 20


def upper_bound(task: Task, mdp: TabularMDP, threshold: float) -> int:
    """The length of the shortest of some tours that lead to an optimal policy."""
    values = mdp.optimal_action_values(_GAMMA)
    best = values >= values.max(axis=1, keepdims=True) - PRECISION
    distances = distances_of(task)
    lengths = []
    for seed in range(_TOURS):
        length, policy = _tour(task, best, distances, np.random.default_rng(seed))
        reached = mdp.expected_return(policy)
        if reached >= threshold - PRECISION:
            lengths.append(length)
    if not lengths:
        raise ValueError(f"its best policy returns {reached:g}, less than {threshold:g}")
    return min(lengths)


def _tour(
    task: Task, best: NDArray, distances: NDArray, rng: np.random.Generator
) -> tuple[int, NDArray]:
    """Timesteps until one of the best actions is tried in every state they lead to; the policy.

    An episode begins at the open start that is farthest from an end. It goes on to the nearest
    open state if the way there is at most half the way to an end, and to the end otherwise.
    """
    met, chosen = task.starts > 0, np.full(len(task.starts), -1)
    ends = (task.next_states == END).any(axis=1)
    to_end = distances[:, ends].min(axis=1, initial=np.inf)
    timesteps, clock, state = 0, 0, END
    while (is_open := met & (chosen < 0)).any():
        to_open = distances[:, is_open].min(axis=1)
        if state == END:
            clock, state = 0, _first_state(task, to_open, to_end, rng)
        action = _next_action(task, state, best, met & ~is_open, to_open, to_end, rng)
        if best[state, action] and chosen[state] < 0:
            chosen[state] = action
            _mark_met(task, chosen, met, state)
        timesteps, clock = timesteps + 1, clock + 1
        state = END if clock == task.horizon else task.next_states[state, action]
    return timesteps, np.eye(best.shape[1])[chosen]


def _first_state(task: Task, to_open: NDArray, to_end: NDArray, rng: np.random.Generator) -> int:
    starts = np.flatnonzero(task.starts)
    nearest = starts[to_open[starts] == to_open[starts].min()]
    return int(nearest[(to_end[nearest] + _tie_break(nearest, rng)).argmax()])


def _next_action(
    task: Task,
    state: int,
    best: NDArray,
    settled: NDArray,
    to_open: NDArray,
    to_end: NDArray,
    rng: np.random.Generator,
) -> int:
    next_states = task.next_states[state]
    terminates = next_states == END
    if to_open[state] == 0:
        remaining = np.where(best[state], np.where(terminates, 1, settled[next_states]), np.inf)
    elif to_open[state] <= (to_end[state] + 1) / 2:
        remaining = np.where(terminates, np.inf, to_open[next_states])
    else:
        remaining = np.where(terminates, -1, to_end[next_states])
    return int((remaining + _tie_break(remaining, rng)).argmin())


def _mark_met(task: Task, chosen: NDArray, met: NDArray, state: int) -> None:
    """Mark the states to which the chosen actions lead from a state that is met."""
    while met[state] and chosen[state] >= 0:
        state = task.next_states[state, chosen[state]]
        if state == END or met[state]:
            return
        met[state] = True


def _tie_break(values: NDArray, rng: np.random.Generator) -> NDArray:
    return rng.random(len(values)) / 2
