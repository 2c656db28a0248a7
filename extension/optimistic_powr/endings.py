"""Whether an episode ended by where it came to, by the action taken, or by an observed clock.

A terminal state is one that no episode leaves. A terminating step whose next state lies among those
from which others went on, such as a sale at a price that wanders, is the action's doing. And where
the time that is left is observed, the time limit ends an episode as a terminal state does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from powr.data import Columns
from powr.kernels import Matern52

# Fewer terminating steps of an action say too little about where they end.
_LEAST_ENDS = 8

# Ends are told from visited states by ridge regression on their features, with this bandwidth in
# units of the range of the states and this ridge; a larger sample says nothing more.
_BANDWIDTH = 1.0
_RIDGE = 1e-3
_MOST_ENDS = 80
_OTHERS = 160
_NEAREST = 2

# The probability that a held-out end looks more like an end than a visited state does: near 1 where
# states end episodes, 1/2 where actions do.
_TELLS_APART = 0.75

# A policy may end episodes where it seldom goes on. Of as many ends as this it also counts if they
# look no more like ends than the nearest states on the way do.
_MANY_ENDS = 20
_TELLS_APART_NEAR = 0.5

# A state to which steps lead that are this many times longer than usual is not a place on the way.
_JUMP = 3.0


def ended_by_action(columns: Columns) -> NDArray:
    """Whether each transition terminated for its action's sake, (n,); states have range 1."""
    states, actions, _, next_states, terminated = columns
    ends = np.flatnonzero(terminated)
    by_action = np.zeros(len(states), bool)
    if len(ends) == 0:
        return by_action
    by_action[ends] = leads_to_visited(states, next_states[ends])
    by_action[ends] |= jumps_to_one_end(columns, ends)
    by_action |= always_ends(actions, terminated)
    rest = ends[~by_action[ends]]
    if len(rest) < _LEAST_ENDS:
        return by_action
    # Evenly spaced in time.
    rest_sample = rest[:: -(-len(rest) // _MOST_ENDS)]
    of_all, of_near = separability(states, rest_sample, next_states, np.flatnonzero(~terminated))
    for action in np.unique(actions[rest]):
        of_action = actions[rest_sample] == action
        n_ends = of_action.sum()
        if (n_ends >= _LEAST_ENDS and of_all[of_action].mean() < _TELLS_APART) or (
            n_ends >= _MANY_ENDS and of_near[of_action].mean() < _TELLS_APART_NEAR
        ):
            by_action[rest[actions[rest] == action]] = True
    return by_action


def ended_by_clock(states: NDArray, next_states: NDArray, truncated: NDArray) -> NDArray:
    """Truncated transitions if all of them lead beyond every state from which a step was taken.

    Then an observation tells the time, and nothing follows in the state where it is over.
    """
    ends = next_states[truncated]
    if len(ends) < 2:
        return np.zeros_like(truncated)
    is_beyond = (ends.min(axis=0) > states.max(axis=0)) | (ends.max(axis=0) < states.min(axis=0))
    return truncated & is_beyond.any()


def always_ends(actions: NDArray, terminated: NDArray) -> NDArray:
    """Whether the action of each transition ended the episode whenever it was taken."""
    n_taken, n_ends = np.bincount(actions), np.bincount(actions, terminated)
    return ((n_taken == n_ends) & (n_taken >= _LEAST_ENDS))[actions]


def leads_to_visited(states: NDArray, ends: NDArray) -> NDArray:
    """Whether each end is exactly a state from which a step was taken."""
    visited = set(map(bytes, np.ascontiguousarray(states + 0.0)))
    return np.array([bytes(end) in visited for end in np.ascontiguousarray(ends + 0.0)])


def jumps_to_one_end(columns: Columns, ends: NDArray) -> NDArray:
    """Whether each end is shared by steps from afar that are paid differently."""
    states, _, rewards, next_states, terminated = columns
    shared, number = np.unique(next_states[ends], axis=0, return_inverse=True)
    lengths = np.linalg.norm(next_states - states, axis=1)
    usual = np.median(lengths[~terminated]) if not terminated.all() else 0.0
    jumps = np.zeros(len(ends), bool)
    if len(shared) == len(ends):
        return jumps
    for one in range(len(shared)):
        rows = ends[number == one]
        is_far = np.median(lengths[rows]) > _JUMP * usual
        jumps[number == one] = len(rows) > 1 and np.ptp(rewards[rows]) > 0 and is_far
    return jumps


def separability(
    states: NDArray, ends: NDArray, next_states: NDArray, lasting: NDArray
) -> tuple[NDArray, NDArray]:
    """The share of states on the way that each end, held out, looks more like an end than.

    Of all of them, and of those nearest to the ends. States on the way are the next states of the
    transitions `lasting`, or the states where the ends began if every episode has one step.
    """
    on_the_way = next_states[lasting] if len(lasting) else states[ends]
    nearest = cKDTree(on_the_way).query(next_states[ends], k=min(_NEAREST, len(on_the_way)))[1]
    sample = np.arange(0, len(on_the_way), -(-len(on_the_way) // _OTHERS))
    others = np.union1d(nearest, sample)
    points = np.vstack([next_states[ends], on_the_way[others]])
    is_end = np.arange(len(points)) < len(ends)
    gram = Matern52(_BANDWIDTH)(points, points)
    gram[np.diag_indices_from(gram)] += _RIDGE
    inverse = np.linalg.inv(gram)
    labels = is_end - is_end.mean()
    held_out = labels - inverse @ labels / np.diag(inverse)
    is_more_like = held_out[is_end][:, None] > held_out[~is_end]
    return tuple(
        is_more_like[:, np.isin(others, among)].mean(axis=1) for among in (sample, nearest)
    )
