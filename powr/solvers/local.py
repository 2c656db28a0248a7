"""Action values from local weights: Prop. 3 in terms of the targets that the regression is given.

With T the target of each pair, mean reward plus discounted value of what follows, Prop. 3 reads

    T = r + gamma C (sum over actions b of pi_b W_b T_b),

where C holds the shares of the next states, and W_b(x) = k(x, X_b) (K_b + n lambda / N)^-1 predicts
from the pairs of action b. W does not depend on the policy. Landmarks and near neighbours stand in
for all pairs (`kriging.py`), so that a product costs a few dozen numbers per next state, and an
iterative solve replaces one with a system of all pairs. Pairs of an action that lie close together
are merged: their counts and sums are added, so that the mean of a random outcome stays right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, bicgstab
from scipy.spatial import cKDTree

from powr.kernels import Kernel, Stationary, expansion, gram_matrix
from powr.solvers.exact import check_size, next_counts
from powr.solvers.kriging import Kriging, spread
from powr.transitions import Transitions

# Pairs of one action this close are merged, in bandwidths of the kernel.
_MERGED = 0.003

_LANDMARKS = 200
_NEIGHBOURS = 16

# The iterative solve leaves at most this share of the right-hand side open, within so many steps.
_RESIDUAL = 1e-7
_MOST_STEPS = 500


class LocalModel:
    """One unknown per merged pair; weights are laid out as (merged pairs, actions)."""

    def __init__(self, kernel: Kernel, data: Transitions):
        self.kernel = check_stationary(kernel)
        self.data = data

    def update(self) -> None:
        data, states = self.data, self.data.index.states
        self._pairs, merged_into = merge_pairs(data, self.kernel)
        check_size(self.rank)
        n_pairs = len(data.pair_state)
        self._sums = csr_array(
            (np.ones(n_pairs), (merged_into, np.arange(n_pairs))), shape=(self.rank, n_pairs)
        )
        self._count = self._sums @ data.pair_count
        self._states = data.pair_state[self._pairs]
        self._action = data.pair_action[self._pairs]
        self._centers = states[self._states]
        counts = (self._sums @ next_counts(data, data.continuing_count)).tocsc()
        self._next_states = np.flatnonzero(np.diff(counts.indptr))
        shares = counts[:, self._next_states].tocsr()
        shares.data /= np.repeat(self._count, np.diff(shares.indptr))
        self._next_shares = shares
        self._regularization: float | None = None

    @property
    def rank(self) -> int:
        return len(self._pairs)

    def solve(
        self, rewards: NDArray, policy: NDArray, gamma: float, regularization: float
    ) -> NDArray:
        """Weights of the action values; rewards summed per pair, policy at the distinct states."""
        self._prepare(regularization)
        policy = policy[self._next_states]

        def left_open(targets: NDArray) -> NDArray:
            """What one backup of the policy adds to the targets, with its sign changed."""
            after = sum(
                policy[:, one.action] * (one.onward @ targets[one.pairs]) for one in self._parts
            )
            return targets - gamma * (self._next_shares @ after)

        system = LinearOperator((self.rank, self.rank), left_open, dtype=float)
        rewards = (self._sums @ rewards) / self._count
        targets, failed = bicgstab(system, rewards, rtol=_RESIDUAL, maxiter=_MOST_STEPS)
        if failed:  # the operator may have a norm above 1 / gamma
            columns = [left_open(unit) for unit in np.eye(self.rank)]
            targets = np.linalg.solve(np.column_stack(columns), rewards)
        return self._weights(targets)

    def regress(self, targets: NDArray, regularization: float) -> NDArray:
        """Weights of the kernel ridge regression on targets summed per pair."""
        self._prepare(regularization)
        return self._weights((self._sums @ targets) / self._count)

    def at_states(self, weights: NDArray) -> NDArray:
        return expansion(self.kernel, self.data.index.states, self._centers, weights)

    def coefficients(self, weights: NDArray) -> NDArray:
        table = np.zeros((len(self.data.index), self.data.n_actions))
        table[self._states, self._action] = weights.sum(axis=1)
        return table

    def _prepare(self, regularization: float) -> None:
        """Work out what does not depend on the policy, unless it is at hand."""
        if regularization != self._regularization:
            noise = self.data.size * regularization / self._count
            reached = self.data.index.states[self._next_states]
            self._parts = [
                Part(self.kernel, action, pairs, self._centers[pairs], noise[pairs], reached)
                for action in range(self.data.n_actions)
                if len(pairs := np.flatnonzero(self._action == action))
            ]
            self._regularization = regularization

    def _weights(self, targets: NDArray) -> NDArray:
        """(K_b + n lambda / N)^-1 T_b for each action, in its column."""
        weights = np.zeros((self.rank, self.data.n_actions))
        for one in self._parts:
            weights[one.pairs, one.action] = cho_solve(one.factor, targets[one.pairs])
        return weights


def check_stationary(kernel: Kernel) -> Stationary:
    if not isinstance(kernel, Stationary):
        raise ValueError(
            f"method local needs a kernel that is a function of distances, not {kernel!r}: use "
            "Exponential, Gaussian or a Matern kernel of powr.kernels, or another method"
        )
    return kernel


class Part:
    """The merged pairs of one action: the weights from them to what is reached, and their system.

    `noise` is n lambda / N for each of them.
    """

    def __init__(
        self,
        kernel: Stationary,
        action: int,
        pairs: NDArray,
        centers: NDArray,
        noise: NDArray,
        reached: NDArray,
    ):
        self.action, self.pairs = action, pairs
        kriging = Kriging(kernel, centers, noise, n_landmarks=_LANDMARKS, n_neighbours=_NEIGHBOURS)
        self.onward = kriging.weights(reached)
        gram = gram_matrix(kernel, centers, centers)
        gram[np.diag_indices_from(gram)] += noise
        self.factor = cho_factor(gram)


def merge_pairs(data: Transitions, kernel: Stationary) -> tuple[NDArray, NDArray]:
    """The pairs that stand for all, and for every pair the number of the one it is merged into."""
    states = kernel.scaled(data.index.states[data.pair_state])
    merged_into = np.empty(len(data.pair_state), int)
    kept = np.empty(0, int)
    for action in np.unique(data.pair_action):
        pairs = np.flatnonzero(data.pair_action == action)
        chosen = pairs[spread(states[pairs], len(pairs), _MERGED)]
        merged_into[pairs] = len(kept) + cKDTree(states[chosen]).query(states[pairs])[1]
        kept = np.concatenate([kept, chosen])
    return kept, merged_into
