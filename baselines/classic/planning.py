"""Value iteration in a finite model, the planner of the model-based peers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Sweeps end once no value changes by more than this; the remaining error is at most
# _TOLERANCE * gamma / (1 - gamma).
_TOLERANCE = 1e-6


def value_iteration(
    transitions: sparse.csr_array, rewards: NDArray, gamma: float, values: NDArray
) -> NDArray:
    """The optimal action values of a model, (n_states, n_actions), by sweeps from `values`.

    Args:
        transitions: (n_states * n_actions, n_states); rows sum to 1 minus the probability of
            termination.
        rewards: (n_states, n_actions), expected.
        values: (n_states,), the initial values; closer ones need fewer sweeps.
    """
    while True:
        action_values = rewards + gamma * (transitions @ values).reshape(rewards.shape)
        improved = action_values.max(axis=1)
        if np.abs(improved - values).max() <= _TOLERANCE:
            return action_values
        values = improved
