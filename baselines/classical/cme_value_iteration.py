"""Value iteration in a model of conditional mean embeddings.

Gruenewaelder, Lever, Baldassarre, Pontil and Gretton, "Modelling transition dynamics in MDPs with
RKHS embeddings", ICML 2012: the ancestor of the paper's world model.
"""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
import numpy as np
from numpy.typing import NDArray

from baselines.classical.agent import Step, check_constant, check_gamma
from baselines.classical.box import BatchAgent
from powr.kernels import Exponential, Kernel

# Sweeps end once no value changes by more than this. They need not contract, since weights may be
# negative and their absolute values may sum to more than one. So their number is limited too.
_TOLERANCE = 1e-4
_MOST_SWEEPS = 1_000


class CMEValueIteration(BatchAgent):
    """The value of (x, a) is a weighted sum of the targets of the steps with action a.

    Args:
        bandwidth: of the exponential kernel, as a fraction of the range of the observations.
        resolution: a step closer than this to a stored step with the same action, as a fraction of
            the range, is merged with it: one of the merged steps, drawn at random, is kept.
        gamma: the discount factor.
        regularization: lambda.
        growth: the agent plans at the end of an episode if the number of stored steps has grown by
            this fraction.
        max_points: maximum number of stored steps; later steps can only be merged.
        bounds: of the observations, if the environment has none.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        bandwidth: float,
        resolution: float,
        gamma: float,
        regularization: float = 1e-6,
        growth: float = 0.05,
        max_points: int = 3_000,
        bounds: Sequence[Sequence[float]] | None = None,
    ) -> None:
        super().__init__(env, seed=seed, growth=growth, bounds=bounds)
        self.kernel = Exponential(check_constant("bandwidth", bandwidth, 1e-9))
        self.gamma = check_gamma(gamma)
        self.regularization = check_constant("regularization", regularization, 1e-12)
        self._memory = _Memory(
            int(check_constant("max_points", max_points, 1)),
            self.n_dimensions,
            check_constant("resolution", resolution, 0),
        )
        self._embeddings = self._embed()

    def _store(self, step: Step) -> int:
        self._memory.add(step, self.rng)
        return self._memory.n

    def _values(self, states: NDArray) -> NDArray:
        return np.stack([embedding.values(states) for embedding in self._embeddings], axis=1)

    def _plan(self) -> None:
        stored = slice(self._memory.n)
        next_states, rewards = self._memory.next_states[stored], self._memory.rewards[stored]
        discounts = self.gamma * self._memory.alive[stored]
        # The range of all discounted sums of rewards.
        low, high = np.array([min(0.0, rewards.min()), max(0.0, rewards.max())]) / (1 - self.gamma)
        values = self._values(next_states).max(axis=1)
        self._embeddings = self._embed()
        weights = [embedding.weights(next_states) for embedding in self._embeddings]
        for _ in range(_MOST_SWEEPS):
            targets = rewards + discounts * values
            action_values = [
                w @ targets[embedding.rows]
                for w, embedding in zip(weights, self._embeddings, strict=True)
            ]
            improved = np.clip(np.max(action_values, axis=0), low, high)
            if np.abs(improved - values).max() <= _TOLERANCE:
                break
            values = improved
        for embedding in self._embeddings:
            embedding.fit(targets[embedding.rows])

    def _embed(self) -> list[_Embedding]:
        actions = self._memory.actions[: self._memory.n]
        rows = [np.flatnonzero(actions == a) for a in range(self.n_actions)]
        return [
            _Embedding(self.kernel, self._memory.states[r], r, self.regularization) for r in rows
        ]


class _Memory:
    """Stored steps; those with the same action keep a minimum distance."""

    def __init__(self, size: int, n_dimensions: int, distance: float) -> None:
        self.n = 0
        self.states, self.next_states = np.empty((2, size, n_dimensions))
        self.rewards, self.alive = np.empty((2, size))
        self.actions, self.sharing = np.zeros((2, size), int)
        self._distance = distance

    def add(self, step: Step, rng: np.random.Generator) -> None:
        distances = np.linalg.norm(self.states[: self.n] - step.state, axis=1)
        distances[self.actions[: self.n] != step.action] = np.inf
        place = int(distances.argmin()) if self.n else 0
        if self.n == 0 or distances[place] > self._distance:
            if self.n == len(self.states):
                return
            place, self.n = self.n, self.n + 1
        self.sharing[place] += 1
        if rng.random() < 1 / self.sharing[place]:
            self.states[place], self.next_states[place] = step.state, step.next_state
            self.actions[place], self.rewards[place] = step.action, step.reward
            self.alive[place] = not step.terminated


class _Embedding:
    """The weights of the steps with one action at any state: k(x, X)(K + lambda I)^-1.

    Far from all steps the weights vanish and values are 0, which is optimistic if rewards are
    negative.
    """

    def __init__(
        self, kernel: Kernel, states: NDArray, rows: NDArray, regularization: float
    ) -> None:
        self.rows = rows
        self._kernel, self._states = kernel, states
        self._inverse = np.linalg.inv(kernel(states, states) + regularization * np.eye(len(states)))
        self._coefficients = np.zeros(len(states))

    def weights(self, states: NDArray) -> NDArray:
        return self._kernel(states, self._states) @ self._inverse

    def fit(self, targets: NDArray) -> None:
        """Set the targets of the steps: `values` returns weights times targets."""
        self._coefficients = self._inverse @ targets

    def values(self, states: NDArray) -> NDArray:
        return self._kernel(states, self._states) @ self._coefficients
