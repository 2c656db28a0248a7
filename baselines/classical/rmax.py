"""R-max: unknown pairs are assigned the maximal value, so plans lead to them.

Brafman and Tennenholtz, "R-max: a general polynomial time algorithm for near-optimal reinforcement
learning", Journal of Machine Learning Research 3, 2002.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from baselines.classical.agent import Step, check_constant, check_gamma
from baselines.classical.finite import CountModel, FiniteAgent, value_iteration


class RMax(FiniteAgent):
    """Greedy in a model where pairs visited fewer than `known_after` times have the value `v_max`.

    The agent replans as soon as a pair becomes known, also within an episode.

    Args:
        v_max: the value of an unknown pair. The textbook uses r_max / (1 - gamma); a smaller value
            is enough if no true value is larger, and saves timesteps.
        known_after: visits after which a pair's model is considered known.
        gamma: the discount factor.
        cautious: whether `predict` treats unknown pairs as worse than all known ones, like
            OptimisticPOWR. Data collection remains optimistic.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        v_max: float,
        known_after: int,
        gamma: float,
        cautious: bool = False,
    ) -> None:
        super().__init__(env, seed=seed, initial_value=check_constant("v_max", v_max))
        self.v_max = v_max
        self.known_after = check_constant("known_after", known_after, 1)
        self.gamma = check_gamma(gamma)
        self.cautious = cautious
        self.model = CountModel(self.n_states, self.n_actions)
        self._shown: NDArray | None = self.q  # None once the model has changed

    def _update(self, step: Step) -> None:
        visits = self.model.visits
        if visits[step.state, step.action] < self.known_after:
            self.model.add(step)
            if visits[step.state, step.action] == self.known_after:
                self.q = self._plan(self.v_max, self.q)
                self._shown = None

    def _shown_values(self, states: NDArray) -> NDArray:
        if not self.cautious:
            return self._values(states)
        if self._shown is None:
            lowest = self.model.reward_sums[self._known].min() / self.known_after
            # Below the value of every policy that keeps to known pairs.
            worst = min(lowest, lowest / (1 - self.gamma)) - 1
            self._shown = self._plan(worst, np.zeros_like(self.q))
        return self._shown[states]

    @property
    def _known(self) -> NDArray:
        return self.model.visits == self.known_after

    def _plan(self, unknown_value: float, start: NDArray) -> NDArray:
        """Optimal action values if an unknown pair pays `unknown_value` and terminates."""
        known = self._known
        pairs, next_states, counts = self.model.outcomes()
        kept = known.ravel()[pairs] & (next_states < self.n_states)
        transitions = sparse.csr_array(
            (counts[kept] / self.known_after, (pairs[kept], next_states[kept])),
            shape=(known.size, self.n_states),
        )
        rewards = np.where(known, self.model.reward_sums / self.known_after, unknown_value)
        return value_iteration(transitions, rewards, self.gamma, start.max(axis=1))
