"""Factors of a Nystrom system, which precondition the systems of later policies and data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

# Limits within which the factors still precondition well: growth of the data, and change of the
# probabilities, summed over actions and averaged over states. Beyond them it is cheaper to factor
# again.
_GROWTH = 1.06
_CHANGE = 0.06


class Factors:
    """LU factors of a system, (actions, rank, actions, rank), for weights of (rank, actions).

    Attributes
    ----------
    last : (rank, actions)
        The last weights that were found with these factors.
    """

    def __init__(self, system: NDArray, policy: NDArray, n_transitions: int):
        self._n_actions, self._rank = system.shape[:2]
        size = self._n_actions * self._rank
        self._lu = lu_factor(system.reshape(size, size), overwrite_a=True, check_finite=False)
        self._of_new_features = np.ones((0, self._n_actions))
        self._policy, self._n_transitions = policy, n_transitions
        self.last = np.zeros((0, self._n_actions))

    def are_near(self, policy: NDArray, n_transitions: int) -> bool:
        """Whether the system for this policy and these data is close to the factored one."""
        change = np.abs(policy[: len(self._policy)] - self._policy).sum(axis=1).mean()
        return bool(change <= _CHANGE and n_transitions <= _GROWTH * self._n_transitions)

    def grow(self, diagonal: NDArray) -> None:
        """Precondition more features than were factored, by their entries of Z'Z's diagonal."""
        self._of_new_features = np.vstack([self._of_new_features, diagonal])

    def solve(self, right: NDArray, ridge: float) -> NDArray:
        known = right[: self._rank].T.ravel().astype(self._lu[0].dtype)
        known = lu_solve(self._lu, known, check_finite=False).reshape(self._n_actions, -1)
        return np.vstack([known.T, right[self._rank :] / (self._of_new_features + ridge)])
