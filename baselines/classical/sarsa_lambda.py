"""True online SARSA(lambda) with tile coding.

Van Seijen and Sutton, "True online TD(lambda)", ICML 2014; Sutton and Barto, "Reinforcement
learning", 2nd edition, Sections 12.7 and 9.5.4.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

from baselines.classical.agent import Step, check_constant
from baselines.classical.box import BoxAgent

# Maximum total number of tiles; more indicate too many dimensions.
_MOST_TILES = 1_000_000


class SarsaLambda(BoxAgent):
    """Learns the values of its own epsilon-greedy policy.

    Args:
        step_size: the textbook's alpha times n_tilings.
        trace_decay: lambda, the decay of the eligibility traces.
        n_tilings, tiles: number of shifted grids, and tiles per dimension of each grid.
        epsilon: the probability of a random action.
        initial_value: of every pair; 0 is optimistic if rewards are negative.
        gamma: the discount factor; 1 is allowed for episodic tasks.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        step_size: float,
        trace_decay: float,
        tiles: int,
        epsilon: float,
        n_tilings: int = 8,
        initial_value: float = 0.0,
        gamma: float = 1.0,
    ) -> None:
        super().__init__(env, seed=seed)
        self.coder = TileCoder(
            n_dimensions=self.n_dimensions,
            n_tilings=int(check_constant("n_tilings", n_tilings, 1)),
            tiles=int(check_constant("tiles", tiles, 1)),
        )
        self.alpha = check_constant("step_size", step_size, 0) / n_tilings
        self.trace_decay = check_constant("trace_decay", trace_decay, 0, 1)
        self.epsilon = check_constant("epsilon", epsilon, 0, 1)
        self.gamma = check_constant("gamma", gamma, 0, 1)
        initial_value = check_constant("initial_value", initial_value)
        self.weights = np.full((self.n_actions, self.coder.n_tiles), initial_value / n_tilings)
        self._begin_episode()

    def _begin_episode(self) -> None:
        self._trace = np.zeros_like(self.weights)
        self._expected = 0.0  # the value of the current pair before the last update
        self._next_action: int | None = None

    def _act(self, state: NDArray) -> int:
        return super()._act(state) if self._next_action is None else self._next_action

    def _values(self, states: NDArray) -> NDArray:
        return self.weights[:, self.coder(states)].sum(axis=2).T

    def _update(self, step: Step) -> None:
        here = step.action, self.coder(step.state[None])[0]
        value, next_value = self.weights[here].sum(), 0.0
        if not step.terminated:
            self._next_action = super()._act(step.next_state)
            next_value = self._values(step.next_state[None])[0, self._next_action]
        surprise = step.reward + self.gamma * next_value - value
        self._trace *= self.gamma * self.trace_decay
        self._trace[here] += 1 - self.alpha * self._trace[here].sum()
        self.weights += self.alpha * (surprise + value - self._expected) * self._trace
        self.weights[here] -= self.alpha * (value - self._expected)
        self._expected = next_value
        if step.terminated or step.truncated:
            self._begin_episode()


class TileCoder:
    """Grids over the unit cube, each shifted by a different fraction of a tile.

    A point is represented by the tiles that contain it, one per grid.

    Attributes:
        n_tiles: total number of tiles of all grids.

    >>> TileCoder(n_dimensions=1, n_tilings=2, tiles=4)(np.array([[0.0], [0.2]]))
    array([[0, 5],
           [0, 6]])
    """

    def __init__(self, *, n_dimensions: int, n_tilings: int, tiles: int) -> None:
        # A shifted grid needs one extra tile per dimension to cover the cube.
        self._shape = (tiles + 1,) * n_dimensions
        per_tiling = (tiles + 1) ** n_dimensions
        self.n_tiles = n_tilings * per_tiling
        if self.n_tiles > _MOST_TILES:
            raise ValueError(
                f"{n_tilings} tilings of {tiles} tiles in each of {n_dimensions} dimensions are "
                f"{self.n_tiles:,} tiles, more than {_MOST_TILES:,}: choose fewer tiles, or an "
                "environment of fewer dimensions"
            )
        # Shifts by the first odd numbers (1, 3, 5, ...) avoid directional artefacts.
        odd = 2 * np.arange(n_dimensions) + 1
        self._shifts = (np.arange(n_tilings)[:, None] * odd % n_tilings) / n_tilings
        self._first = np.arange(n_tilings) * per_tiling
        self._tiles = tiles

    def __call__(self, points: NDArray) -> NDArray:
        """The tiles that contain points of the unit cube: (n, n_dimensions) -> (n, n_tilings)."""
        places = (points[:, None, :] * self._tiles + self._shifts).astype(int)
        places = np.minimum(places, self._tiles)
        return self._first + np.ravel_multi_index(np.moveaxis(places, 2, 0), self._shape)
