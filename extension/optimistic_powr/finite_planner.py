"""Planning for finite observations: optimistic mirror descent in the empirical MDP."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimistic_powr.growing_steps import MOST_STEPS, settle
from optimistic_powr.planner import Planner
from optimistic_powr.visits import Visits
from powr.data import Counts, History
from powr.functions import Table
from powr.kernels import Dirac
from powr.mirror_descent import Policy, TablePolicy, uniform_policy
from powr.solvers.empirical_mdp import EmpiricalMDP

# Imagined visits per pair, each of which led to the best value: nearly none while every outcome is
# deterministic. Otherwise one or more, growing with the logarithm of the mean visits, so that bad
# luck in its first visits does not rule a pair out.
_IMAGINED_IF_DETERMINISTIC = 1e-6
_IMAGINED_IF_RANDOM = 1.0
IMAGINED_PER_LOG_VISITS = 2.0

# Policy iteration ends where no action value changes by more than rounding, as a share of their
# range.
_EXACT = 1e-10

# Backups of value iteration: the horizon is at most 1,000, so that they settle well before.
_MOST_BACKUPS = 100_000


class FinitePlanner(Planner):
    """Optimistic mirror descent in the empirical MDP.

    Every pair has a fraction of a visit more than it had, imagined, that led to the best return:
    the ridge n lambda of Eq. (10) is that fraction, and the prior is that return.
    """

    def __init__(
        self,
        history: History,
        n_actions: int,
        *,
        regularization: float | None,
        why_gamma: str = "",
        imagined_per_log_visits: float = IMAGINED_PER_LOG_VISITS,
        **settings: Any,
    ):
        super().__init__(history, n_actions, **settings)
        self.regularization, self._why_gamma = regularization, why_gamma
        self._imagined_per_log_visits = imagined_per_log_visits
        self.data = Counts((), n_actions)
        self._solver = EmpiricalMDP(self.data)
        self._visits = Visits()
        # The target policy, its action values above the prior, and the prior.
        self._target: tuple[Policy, Table, float] | None = None
        self.policy = uniform_policy(n_actions)
        self.model = None

    def observe(self, transition: tuple, ended: bool) -> bool:
        """Take in one transition; True where a plan is due."""
        state, action, reward, next_state, terminated = transition
        self._size += 1
        self._rewards.append(reward)
        best, income = self.returns.best, self.returns.income
        self.returns.observe(self._rewards, ended, terminated)
        changed = self._visits.observe((state, action), (next_state, reward, terminated))
        is_due = (changed or self.returns.income > income) and self._within
        if ended:
            has_news = bool(self._visits.unplanned) or self.returns.best != best
            is_due = has_news or self._visits.is_random
        return is_due

    def plan(self) -> None:
        self._count()
        self.policy, _ = self._best_policy(self._optimistic_prior, self._imagined)
        self.plan_times, self._visits.unplanned = [self._size], set()

    @property
    def target_policy(self) -> Policy:
        """Treats unvisited pairs as worse than any observed return; ignores `prior`."""
        return self._target_plan()[0]

    def action_values(self, states: NDArray) -> NDArray:
        """Those of the target policy, (n, n_actions)."""
        _, above_prior, prior = self._target_plan()
        return above_prior(states) + prior

    def _target_plan(self) -> tuple[Policy, Table, float]:
        if self._target is None or self.data.size < self._size:
            self._count()
            prior, imagined = self.returns.below_all, _IMAGINED_IF_DETERMINISTIC
            if not self._cautious:
                prior, imagined = self._optimistic_prior, self._imagined
            self._target = (*self._best_policy(prior, imagined), prior)
        return self._target

    @property
    def _imagined(self) -> float:
        if self.regularization is not None:
            return self.regularization * self.data.size
        if not self._visits.is_random:
            return _IMAGINED_IF_DETERMINISTIC
        mean_visits = self.data.size / max(len(self.data.pair_count), 1)
        grown = self._imagined_per_log_visits * math.log(max(mean_visits, 1.0))
        return max(_IMAGINED_IF_RANDOM, grown)

    def _count(self) -> None:
        if self.data.size < self._size:
            self.data.add(*self.history.columns(self.data.size, self._size))
            self._target = None
            self._solver.update()

    def _best_policy(self, prior: float, imagined: float) -> tuple[Policy, Table]:
        """The policy of mirror descent, and its action values above the prior."""
        data = self.data
        if data.size == 0:
            return uniform_policy(self.n_actions), Table(data.index, np.zeros((0, self.n_actions)))
        above_prior = data.pair_reward + prior * (
            self.gamma * data.pair_continuing - data.pair_count
        )
        ridge = imagined / data.size
        shape = (len(data.index), self.n_actions)
        action_values = np.zeros(shape)

        def solve(policy: NDArray) -> NDArray:
            return self._solver.solve(above_prior, policy, self.gamma, ridge)

        def backup(policy: NDArray) -> NDArray:
            nonlocal action_values
            values = (policy * action_values).sum(axis=1)
            action_values = self._solver.backup(above_prior, values, self.gamma, ridge)
            return action_values

        solves = self._planning.exact is not False
        settled = settle(
            solve if solves else backup,
            shape,
            tolerance=_EXACT,
            growth=self._planning.growth,
            most_steps=MOST_STEPS if solves else _MOST_BACKUPS,
            **self._steps,
        )
        policy = TablePolicy(Table(data.index, settled.exponents))
        return policy, Table(data.index, settled.action_values)

    def chosen(self) -> dict[str, Any]:
        return {
            "kernel": (Dirac(), "the states are finite"),
            "gamma": (self.gamma, self._why_gamma),
            "prior": self.returns.best_and_reason(),
            "regularization": (
                self._imagined / max(self.data.size, 1),
                "imagined visits per pair that grow with the mean visits, since outcomes vary"
                if self._visits.is_random
                else "next to none, since no outcome has varied yet",
            ),
        }
