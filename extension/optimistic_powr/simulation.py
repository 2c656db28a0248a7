"""Plans in a box are judged by simulated episodes in the newest map, which cost no timestep.

An episode starts where one was seen to start, follows the map, and ends where the nearest visited
state is a terminal one. Values interpolated between centers may mislead a plan where the map does
not; a simulated return tells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from optimistic_powr.displacement import DisplacementModel
from powr.data import Columns

# The map is trusted where no coordinate of the newest steps was predicted with a larger error, as
# a share of the usual length of steps.
_TRUSTED_ERROR = 0.05

# Simulated episodes per plan, from starts evenly spaced in time, and their steps without a limit.
_EPISODES = 6
_MOST_STEPS = 1000


def is_trusted(model: DisplacementModel, columns: Columns, size: int) -> bool:
    """Whether the map, of `size` of the transitions, predicted the others."""
    usual = np.sqrt((((columns[3] - columns[0]) / model.scale) ** 2).mean(axis=0))
    newest = tuple(column[size:] for column in columns)
    if model.is_random or len(newest[1]) == 0:
        return False
    states, actions, _, next_states, _ = newest
    predicted = model.map(states / model.scale)[np.arange(len(actions)), actions]
    steps = (next_states - states) / model.scale
    errors = predicted[:, :-1] - steps
    return bool((np.sqrt((errors**2).mean(axis=0)) <= _TRUSTED_ERROR * usual).all())


class Simulator:
    """Episodes in the map of a model, from what was visited."""

    def __init__(self, model: DisplacementModel, columns: Columns, limit: int | None):
        states, _, rewards, next_states, terminated = columns
        self._model, self._n_steps = model, limit or _MOST_STEPS
        self._n_states = len(states)
        ends = next_states[terminated]
        # What a terminating step pays beyond the map, by the number of the end.
        rows = np.flatnonzero(terminated)
        of_map = model.map(states[rows] / model.scale)[np.arange(len(rows)), columns[1][rows], -1]
        self._paid_at_end = rewards[rows] - of_map
        self._tree = cKDTree(np.vstack([states, ends]) / model.scale)

    def play(self, model: DisplacementModel, starts: NDArray) -> tuple[float, NDArray]:
        """The mean undiscounted return of the greedy policy of a model, and the scaled states."""
        states = starts[:: -(-len(starts) // _EPISODES)] / self._model.scale
        n, total, passed = len(states), 0.0, [states]
        for _ in range(self._n_steps):
            rewards, _, reached = self._model.look_ahead(states)
            if model.map is self._model.map:
                values = model.prior + model.interpolate(reached)
                exponents = rewards + model.gamma * values.reshape(rewards.shape)
            else:
                exponents = model(states * self._model.scale)
            actions = exponents.argmax(axis=1)
            rows = np.arange(len(states))
            total += rewards[rows, actions].sum()
            states = reached.reshape(*rewards.shape, -1)[rows, actions]
            nearest = self._tree.query(states)[1] - self._n_states
            total += self._paid_at_end[nearest[nearest >= 0]].sum()
            states = states[nearest < 0]
            if len(states) == 0:
                break
            passed.append(states)
        return float(total / n), np.vstack(passed)
