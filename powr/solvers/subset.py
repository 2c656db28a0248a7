"""Which state-action pairs to solve on where all are too many: the newest, the telling, a spread.

Half are the newest pairs, since that is where the current policy leads and its plan must be right.
Up to an eighth each are ends of episodes and rewards that stand out, both rare and worth much. The
others are chosen by a pivoted Cholesky of the kernel: for each action, those older pairs that the
ones chosen before predict worst. Unlike a low-rank model, which fits all data in a smaller space,
the exact solve on a subset fits chosen data in the whole space: better where a transition repeats
itself exactly and the kernel is rough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.kernels import Kernel
from powr.solvers.dictionary import Dictionary
from powr.transitions import Transitions


def choose_pairs(data: Transitions, kernel: Kernel, max_pairs: int) -> NDArray:
    """At most max_pairs of the pairs; pairs are numbered in order of appearance."""
    n_pairs = len(data.pair_state)
    if n_pairs <= max_pairs:
        return np.arange(n_pairs)
    chosen = np.zeros(n_pairs, bool)
    chosen[n_pairs - max_pairs // 2 :] = True
    for telling in (ends_of_episodes(data), outstanding_rewards(data)):
        among = np.flatnonzero(telling & ~chosen)
        chosen[spread_pairs(data, kernel, among, max_pairs // 8)] = True
    room = max_pairs - int(chosen.sum())
    chosen[spread_pairs(data, kernel, np.flatnonzero(~chosen), room)] = True
    return np.flatnonzero(chosen)


def ends_of_episodes(data: Transitions) -> NDArray:
    return data.pair_continuing < data.pair_count


def outstanding_rewards(data: Transitions) -> NDArray:
    """Pairs whose mean reward lies farther from the median than nine in ten others do."""
    mean = data.pair_reward / data.pair_count
    distance = np.abs(mean - np.median(mean))
    return distance > np.quantile(distance, 0.9)


def spread_pairs(data: Transitions, kernel: Kernel, among: NDArray, max_pairs: int) -> NDArray:
    """Pivots of the kernel among some pairs, for each action its share."""
    by_action = [among[data.pair_action[among] == action] for action in range(data.n_actions)]
    shares = share_out(max_pairs, np.array([len(pairs) for pairs in by_action]))
    chosen = [np.empty(0, int)]
    for pairs, share in zip(by_action, shares, strict=True):
        if share == len(pairs):
            chosen.append(pairs)
        elif share > 0:
            dictionary = Dictionary(kernel, data.index.shape, 0.0, int(share))
            dictionary.grow(data.index.states[data.pair_state[pairs]])
            chosen.append(pairs[dictionary.pivot_numbers])
    return np.concatenate(chosen)


def share_out(room: int, sizes: NDArray) -> NDArray:
    """Places for groups of these sizes: half of them alike, the rest in proportion to the sizes.

    So a group that is small beside the others keeps all that it has.
    """
    if sizes.sum() <= room:
        return sizes
    alike = np.minimum(sizes, room // (2 * len(sizes)))
    left, wanting = room - alike.sum(), sizes - alike
    return alike + left * wanting // wanting.sum()
