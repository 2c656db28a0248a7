"""Posterior sampling: act optimally in a model drawn from the posterior, and redraw it regularly.

Osband, Russo and Van Roy, "(More) efficient reinforcement learning via posterior sampling", NeurIPS
2013, with the resampling rule of Ouyang, Gagrani, Nayyar and Jain, "Learning unknown Markov
decision processes: a Thompson sampling approach", NeurIPS 2017.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from baselines.classical.agent import Step, check_constant, check_gamma
from baselines.classical.finite import CountModel, FiniteAgent, value_iteration

# Expected prior weight left over by stick-breaking; it is added to the last stick.
_LEFT_OVER = 1e-3


class PSRL(FiniteAgent):
    """Greedy in a model drawn from the posterior.

    A new model is drawn at the end of an episode, and when the visits of a pair have doubled since
    the last draw. Without the second rule the agent repeats an error until the time limit. Each
    pair's next state, with termination as one of them, has a Dirichlet prior with a total weight of
    `prior_visits` visits. Its mean reward has a normal prior.

    Args:
        prior_visits: the weight of the prior on next states, in visits.
        reward_mean, reward_std: the prior on the mean reward of a pair.
        reward_noise: standard deviation of a reward around its mean.
        gamma: the discount factor.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        *,
        seed: int,
        prior_visits: float,
        reward_mean: float,
        reward_std: float,
        reward_noise: float,
        gamma: float,
    ) -> None:
        super().__init__(env, seed=seed, initial_value=0.0)
        self.prior_visits = check_constant("prior_visits", prior_visits, 1e-9)
        self.reward_mean = check_constant("reward_mean", reward_mean)
        self.reward_std = check_constant("reward_std", reward_std, 1e-9)
        self.reward_noise = check_constant("reward_noise", reward_noise, 1e-9)
        self.gamma = check_gamma(gamma)
        self.model = CountModel(self.n_states, self.n_actions)
        self._plan()

    def _update(self, step: Step) -> None:
        self.model.add(step)
        pair = step.state, step.action
        doubled = self.model.visits[pair] >= 2 * self._visits_at_draw[pair]
        if step.terminated or step.truncated or doubled:
            self._plan()

    def _plan(self) -> None:
        self._visits_at_draw = self.model.visits.copy()
        transitions, rewards = self._draw_transitions(), self._draw_rewards()
        self.q = value_iteration(transitions, rewards, self.gamma, self.q.max(axis=1))

    def _draw_rewards(self) -> NDArray:
        """Mean rewards drawn from their normal posterior, (n_states, n_actions)."""
        prior_precision, noise_precision = self.reward_std**-2, self.reward_noise**-2
        precision = prior_precision + noise_precision * self.model.visits
        mean = (
            prior_precision * self.reward_mean + noise_precision * self.model.reward_sums
        ) / precision
        return self.rng.normal(mean, precision**-0.5)

    def _draw_transitions(self) -> sparse.csr_array:
        """Transitions drawn from their Dirichlet posterior, (n_states * n_actions, n_states).

        A beta draw splits each row between the prior and the observed next states. A Dirichlet draw
        splits the observed part among the observed next states; stick-breaking splits the prior
        part among all states. So a row has few nonzero entries.
        """
        pairs, seen, counts = self.model.outcomes()
        weights = self.rng.gamma(counts)
        visits = self.model.visits.ravel()
        prior_share = np.ones(self.q.size)
        tried = visits > 0
        prior_share[tried] = self.rng.beta(self.prior_visits, visits[tried])
        weights *= (1 - prior_share[pairs]) / np.bincount(pairs, weights)[pairs]
        prior_pairs, drawn, sticks = self._break_sticks()
        rows = np.concatenate([pairs, prior_pairs])
        columns = np.concatenate([seen, drawn])
        weights = np.concatenate([weights, prior_share[prior_pairs] * sticks])
        alive = columns < self.n_states
        return sparse.csr_array(
            (weights[alive], (rows[alive], columns[alive])), shape=(self.q.size, self.n_states)
        )

    def _break_sticks(self) -> tuple[NDArray, NDArray, NDArray]:
        """Pair, next state and share of the prior weight, for a few sticks per pair."""
        mean_left_over = self.prior_visits / (1 + self.prior_visits)
        n_sticks = max(1, int(np.ceil(np.log(_LEFT_OVER) / np.log(mean_left_over))))
        broken = self.rng.beta(1, self.prior_visits, size=(self.q.size, n_sticks))
        broken[:, -1] = 1
        left = np.cumprod(1 - broken, axis=1)
        shares = broken * np.hstack([np.ones((self.q.size, 1)), left[:, :-1]])
        states = self.rng.integers(self.n_states + 1, size=shares.shape)
        return np.repeat(np.arange(self.q.size), n_sticks), states.ravel(), shares.ravel()
