"""Q-learning with optimistic initial values, and Dyna-Q, which replays steps from a learned model.

Watkins and Dayan, "Q-learning", Machine Learning 8, 1992; for the initial values, Even-Dar and
Mansour, "Convergence of optimistic and incremental Q-learning", NeurIPS 2001. Sutton, "Integrated
architectures for learning, planning, and reacting based on approximating dynamic programming",
ICML 1990; Sutton and Barto, "Reinforcement learning", 2nd edition, Section 8.2.
"""

from __future__ import annotations

from typing import Any

import gymnasium

from baselines.classical.agent import Step, check_constant, check_gamma
from baselines.classical.finite import FiniteAgent


class OptimisticQ(FiniteAgent):
    """Q-learning with a constant learning rate and an epsilon-greedy policy.

    Args:
        initial_value: of every pair; optimistic if no true value is larger.
        learning_rate: of the Q-learning update; 1 suits deterministic environments.
        epsilon: the probability of a random action; optimism needs none.
        gamma: the discount factor.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        initial_value: float,
        learning_rate: float,
        gamma: float,
        epsilon: float = 0.0,
    ) -> None:
        initial_value = check_constant("initial_value", initial_value)
        super().__init__(env, seed=seed, initial_value=initial_value)
        self.learning_rate = check_constant("learning_rate", learning_rate, 0, 1)
        self.gamma = check_gamma(gamma)
        self.epsilon = check_constant("epsilon", epsilon, 0, 1)

    def _update(self, step: Step) -> None:
        target = step.reward
        if not step.terminated:
            target += self.gamma * self.q[step.next_state].max()
        self.q[step.state, step.action] += self.learning_rate * (
            target - self.q[step.state, step.action]
        )


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
        position = self._position.setdefault((int(step.state), step.action), len(self._outcomes))
        if position == len(self._outcomes):
            self._outcomes.append([])
        self._outcomes[position].append(step)
        for which in self.rng.integers(len(self._outcomes), size=self.planning_steps):
            seen = self._outcomes[which]
            super()._update(seen[0] if len(seen) == 1 else seen[self.rng.integers(len(seen))])
