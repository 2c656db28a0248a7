"""A deterministic finite task as a graph: its pairs, its starts, its distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from powr.tabular import TabularMDP

END = -1  # the next state of a pair that terminates the episode

# To which the linear programme is solved, and to which a probability is 0 or 1.
PRECISION = 1e-6


class Task(NamedTuple):
    """A deterministic finite task: arrays of shape (n_states, n_actions) and (n_states,)."""

    next_states: NDArray
    rewards: NDArray
    starts: NDArray
    horizon: int

    @classmethod
    def of(cls, mdp: TabularMDP) -> Task:
        """The task of an MDP; ValueError if a step of it is random or an episode has no limit."""
        transitions = mdp.transitions.tocoo()
        certain = transitions.data > 1 - PRECISION
        if not (certain | (transitions.data < PRECISION)).all():
            raise ValueError("its steps are random, so no pair is known after one try")
        if mdp.horizon is None:
            raise ValueError("its episodes have no time limit")
        next_states = np.full(mdp.rewards.size, END)
        next_states[transitions.row[certain]] = transitions.col[certain]
        return cls(
            next_states.reshape(mdp.rewards.shape),
            mdp.rewards,
            mdp.initial_distribution,
            mdp.horizon,
        )


def incidence(task: Task) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Which pairs leave a state, which enter it, and which of the starts it is."""
    n_states, n_actions = task.rewards.shape
    pairs = np.arange(task.rewards.size)
    next_states = task.next_states.ravel()
    goes_on = next_states != END
    starts = np.flatnonzero(task.starts)

    def ones(rows: NDArray, columns: NDArray, n_columns: int) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_states, n_columns))

    return (
        ones(pairs // n_actions, pairs, len(pairs)),
        ones(next_states[goes_on], pairs[goes_on], len(pairs)),
        ones(starts, np.arange(len(starts)), len(starts)),
    )


def distances_of(task: Task) -> NDArray:
    """Steps of the shortest way from each state to each, infinite where there is none."""
    leaving, entering, _ = incidence(task)
    return shortest_path(leaving @ entering.T, unweighted=True)
