"""Dyna-Q: Q-learning that replays steps from a learned model between real ones.

Sutton, "Integrated architectures for learning, planning, and reacting based on approximating
dynamic programming", ICML 1990; Sutton and Barto, "Reinforcement learning", 2nd edition, Section
8.2.
"""

from __future__ import annotations

from typing import Any

import gymnasium

from baselines.classic.agent import Step, check_constant
from baselines.classic.optimistic_q import OptimisticQ


class DynaQ(OptimisticQ):
    """Q-learning plus `planning_steps` updates per step, each on a randomly drawn visited pair.

    The textbook's model stores the last outcome of a pair; this one samples from all observed
    outcomes, which is the same in a deterministic environment and also correct in a stochastic one.

    Args:
        planning_steps: model steps per real step.
        constants: hyperparameters of Q-learning: initial_value, learning_rate, gamma, epsilon.
    """

    def __init__(
        self, env: gymnasium.Env, *, seed: int, planning_steps: int, **constants: Any
    ) -> None:
        super().__init__(env, seed=seed, **constants)
        self.planning_steps = int(check_constant("planning_steps", planning_steps, 0))
        self._outcomes: list[list[Step]] = []  # one list per pair, in order of first visit
        self._position: dict[tuple[int, int], int] = {}

    def _update(self, step: Step) -> None:
        super()._update(step)
        self._remember(step)
        for which in self.rng.integers(len(self._outcomes), size=self.planning_steps):
            seen = self._outcomes[which]
            super()._update(seen[0] if len(seen) == 1 else seen[self.rng.integers(len(seen))])

    def _remember(self, step: Step) -> None:
        pair = int(step.state), step.action
        if pair not in self._position:
            self._position[pair] = len(self._outcomes)
            self._outcomes.append([])
        self._outcomes[self._position[pair]].append(step)
