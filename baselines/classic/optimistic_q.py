"""Q-learning with optimistic initial values, which drive exploration.

Watkins and Dayan, "Q-learning", Machine Learning 8, 1992; for the initial values, Even-Dar and
Mansour, "Convergence of optimistic and incremental Q-learning", NeurIPS 2001.
"""

from __future__ import annotations

import gymnasium

from baselines.classic.agent import Step, check_constant, check_gamma
from baselines.classic.finite import FiniteAgent


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
