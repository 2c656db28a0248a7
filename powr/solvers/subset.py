"""Which state-action pairs to solve on where all are too many: the newest and a spread of the rest.

Half are the newest pairs, since that is where the current policy leads and its plan must be right.
The others are chosen by a pivoted Cholesky of the kernel: for each action, those older pairs that
the ones chosen before predict worst. Unlike a low-rank model, which fits all data in a smaller
space, the exact solve on a subset fits chosen data in the whole space: better where a transition
repeats itself exactly and the kernel is rough.
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
    n_newest = max_pairs // 2
    older = np.arange(n_pairs - n_newest)
    spread = spread_pairs(data, kernel, older, max_pairs - n_newest)
    return np.concatenate([spread, np.arange(n_pairs - n_newest, n_pairs)])


def spread_pairs(data: Transitions, kernel: Kernel, among: NDArray, max_pairs: int) -> NDArray:
    """Pivots of the kernel, shared among the actions in proportion to what they have."""
    chosen = []
    for action in range(data.n_actions):
        pairs = among[data.pair_action[among] == action]
        share = max_pairs * len(pairs) // len(among)
        if share > 0:
            dictionary = Dictionary(kernel, data.index.shape, 0.0, share)
            dictionary.grow(data.index.states[data.pair_state[pairs]])
            chosen.append(pairs[dictionary.pivot_numbers])
    return np.sort(np.concatenate([[], *chosen]).astype(int))
