"""Online least-squares policy iteration: repeated on all steps collected so far.

Lagoudakis and Parr, "Least-squares policy iteration", Journal of Machine Learning Research 4, 2003;
online as in Busoniu, Ernst, De Schutter and Babuska, "Online least-squares policy iteration for
reinforcement learning control", ACC 2010.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import gymnasium
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from baselines.classical.agent import Step, check_constant, check_gamma
from baselines.classical.box import BatchAgent

# Maximum number of policies per plan; least-squares policy iteration may cycle.
_MOST_ITERATIONS = 20

# Maximum number of radial functions; more indicate too many dimensions.
_MOST_CENTERS = 2_000


class LSPI(BatchAgent):
    """Linear action values on a grid of radial functions, fitted to the greedy policy by LSTD-Q.

    A function that is not active at any step keeps the weight 0, so unvisited regions look good if
    rewards are negative.

    Args:
        centers: radial functions per dimension; their width equals their spacing.
        regularization: added to the diagonal of LSTD-Q's matrix.
        epsilon: the probability of a random action.
        gamma: the discount factor.
        growth: the agent plans at the end of an episode if the data have grown by this fraction.
        bounds: of the observations, if the environment has none.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        centers: int,
        regularization: float,
        epsilon: float,
        gamma: float,
        growth: float = 0.1,
        bounds: Sequence[Sequence[float]] | None = None,
    ) -> None:
        super().__init__(env, seed=seed, growth=growth, bounds=bounds)
        centers = int(check_constant("centers", centers, 2))
        n_centers = centers**self.n_dimensions
        if n_centers > _MOST_CENTERS:
            raise ValueError(
                f"centers is {centers}, which makes {n_centers:,} radial functions in "
                f"{self.n_dimensions} dimensions, more than {_MOST_CENTERS:,}: choose fewer, or an "
                "environment of fewer dimensions"
            )
        grid = np.linspace(0.0, 1.0, centers)
        self._centers = np.array(list(itertools.product(grid, repeat=self.n_dimensions)))
        self._width = grid[1]
        self.regularization = check_constant("regularization", regularization, 1e-12)
        self.epsilon = check_constant("epsilon", epsilon, 0, 1)
        self.gamma = check_gamma(gamma)
        self.weights = np.zeros((self.n_actions, n_centers))
        self._steps: list[Step] = []

    def features(self, states: NDArray) -> NDArray:
        """The radial functions evaluated at a batch of states, (n, n_centers)."""
        return np.exp(
            -0.5 * cdist(states / self._width, self._centers / self._width, "sqeuclidean")
        )

    def _values(self, states: NDArray) -> NDArray:
        return self.features(states) @ self.weights.T

    def _store(self, step: Step) -> int:
        self._steps.append(step)
        return len(self._steps)

    def _plan(self) -> None:
        states, actions, rewards, next_states, terminated, _ = map(
            np.array, zip(*self._steps, strict=True)
        )
        here, there = self.features(states), self.features(next_states)
        there[terminated] = 0.0
        policy = None
        for _ in range(_MOST_ITERATIONS):
            greedy = (there @ self.weights.T).argmax(axis=1)
            if policy is not None and (greedy == policy).all():
                return
            policy = greedy
            self.weights = self._lstd_q(here, actions, rewards, there, policy)

    def _lstd_q(
        self, here: NDArray, actions: NDArray, rewards: NDArray, there: NDArray, policy: NDArray
    ) -> NDArray:
        """Weights of the policy's action values: sum phi (phi - gamma phi')^T w = sum phi r."""
        size, n_centers = self.weights.size, here.shape[1]
        matrix, target = self.regularization * np.eye(size), np.zeros(size)
        for a in range(self.n_actions):
            block, taken = slice(a * n_centers, (a + 1) * n_centers), actions == a
            matrix[block, block] += here[taken].T @ here[taken]
            target[block] = here[taken].T @ rewards[taken]
            for b in range(self.n_actions):
                next_block, followed = slice(b * n_centers, (b + 1) * n_centers), policy == b
                both = taken & followed
                matrix[block, next_block] -= self.gamma * (here[both].T @ there[both])
        return np.linalg.solve(matrix, target).reshape(self.weights.shape)
