"""Which state-action pairs to solve on where all are too many.

A pivoted Cholesky of the kernel chooses, for each action, the pairs that the others predict worst.
Unlike a low-rank model, which fits all data in a smaller space, the exact solve on a subset fits
chosen data in the whole space: better where a transition repeats itself exactly and the kernel is
rough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from powr.dictionary import Dictionary
from powr.kernels import Kernel
from powr.transitions import Transitions


def choose_pairs(data: Transitions, kernel: Kernel, max_pairs: int) -> NDArray:
    """At most max_pairs of the pairs, shared among the actions in proportion to what they have."""
    n_pairs = len(data.pair_state)
    if n_pairs <= max_pairs:
        return np.arange(n_pairs)
    chosen = []
    for action in range(data.n_actions):
        pairs = np.flatnonzero(data.pair_action == action)
        share = max_pairs * len(pairs) // n_pairs
        if share > 0:
            dictionary = Dictionary(kernel, data.index.shape, 0.0, share)
            dictionary.grow(data.index.states[data.pair_state[pairs]])
            chosen.append(pairs[dictionary.pivot_numbers])
    return np.sort(np.concatenate(chosen))
