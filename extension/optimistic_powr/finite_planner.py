"""Planning for finite observations: optimistic mirror descent in the empirical MDP."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from optimistic_powr.growing_steps import MOST_STEPS, settle
from optimistic_powr.planner import Planner
from optimistic_powr.visits import Visits
from powr.data import Counts, History
from powr.kernels import Dirac, Table
from powr.mirror_descent import Policy, TablePolicy, uniform_policy
from powr.solvers.empirical_mdp import EmpiricalMDP

# Imagined visits per pair: nearly none while every outcome is deterministic. Otherwise one or more,
# growing with the logarithm of the mean visits, so that bad luck in its first visits does not rule
# a pair out.
_IMAGINED_IF_DETERMINISTIC = 1e-6
_IMAGINED_IF_RANDOM = 1.0
IMAGINED_PER_LOG_VISITS = 2.0

# Policy iteration ends where no action value changes by more than rounding, as a share of their
# range.
_EXACT = 1e-10

# Backups of value iteration: the horizon is at most 1,000, so that they settle well before.
_MOST_BACKUPS = 100_000

# A horizon of the time limit, for the policy shown, has to be better by this share of the return.
_CLEARLY_BETTER = 0.25

# Where there is no time limit, an episode of the policy shown is judged by its first steps.
_STEPS_WITHOUT_LIMIT = 1_000


class StayingCounts:
    """Counts with imagined visits of every visited pair, `imagined` of each, that stay in place."""

    def __init__(self, data: Counts):
        self._data, self.imagined = data, 0.0

    index = property(lambda self: self._data.index)
    n_actions = property(lambda self: self._data.n_actions)
    size = property(lambda self: self._data.size)
    pair_state = property(lambda self: self._data.pair_state)
    pair_action = property(lambda self: self._data.pair_action)
    pair_count = property(lambda self: self._data.pair_count)

    @property
    def triple_pair(self) -> NDArray:
        return np.concatenate([self._data.triple_pair, np.arange(len(self._data.pair_state))])

    @property
    def triple_next(self) -> NDArray:
        return np.concatenate([self._data.triple_next, self._data.pair_state])

    @property
    def continuing_count(self) -> NDArray:
        stays = np.full(len(self._data.pair_state), self.imagined)
        return np.concatenate([self._data.continuing_count, stays])


class FinitePlanner(Planner):
    """Optimistic mirror descent in the empirical MDP.

    Every pair has a few visits more than it had, or a fraction of one, imagined: the ridge n lambda
    of Eq. (10) is their number. They led to the best return, the prior. But where outcomes vary and
    that return is the best reward for ever, or no episode terminates, they paid the best reward and
    changed nothing: else each of them would be worth a horizon of rewards, which no number of real
    visits outweighs.
    """

    def __init__(
        self,
        history: History,
        n_actions: int,
        *,
        regularization: float | None,
        why_gamma: str = "",
        time_limit: int | None = None,
        imagined_per_log_visits: float = IMAGINED_PER_LOG_VISITS,
        **settings: Any,
    ):
        super().__init__(history, n_actions, **settings)
        self.regularization, self._why_gamma = regularization, why_gamma
        self._imagined_per_log_visits, self._time_limit = imagined_per_log_visits, time_limit
        self.data = Counts((), n_actions)
        self._staying = StayingCounts(self.data)
        self._solvers = EmpiricalMDP(self.data), EmpiricalMDP(self._staying)
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
        self.policy, _ = self._optimistic_policy()
        self.plan_times, self._visits.unplanned = [self._size], set()

    @property
    def target_policy(self) -> Policy:
        """Treats unvisited pairs as worse than all that rewards allow; ignores `prior`."""
        return self._target_plan()[0]

    def action_values(self, states: NDArray) -> NDArray:
        """Those of the target policy, (n, n_actions)."""
        _, above_prior, prior = self._target_plan()
        return above_prior(states) + prior

    def _target_plan(self) -> tuple[Policy, Table, float]:
        if self._target is None or self.data.size < self._size:
            self._count()
            if self._cautious:
                self._target = self._cautious_plan()
            else:
                self._target = (*self._optimistic_policy(), self._optimistic_prior)
        return self._target

    def _cautious_plan(self) -> tuple[Policy, Table, float]:
        """The plan without optimism; with a horizon of the time limit where that is clearly better.

        Episodes end at the limit, so that patience beyond it may be lost.
        """
        prior, (low, high) = self.returns.below_all, self.returns.rewards
        plan = self._best_policy(prior, most_spread=high - low)
        if self._time_limit is not None and self.data.size > 0:
            gamma = 1.0 - 1.0 / max(self._time_limit, 2)
            hasty = self._best_policy(prior, most_spread=high - low, gamma=gamma)
            patient_return, hasty_return = (
                self._judge(policy, self._time_limit)[0] for policy, _ in (plan, hasty)
            )
            if hasty_return - patient_return > _CLEARLY_BETTER * abs(patient_return):
                plan = hasty
        return *plan, prior

    def _optimistic_policy(self) -> tuple[Policy, Table]:
        is_settling = self._visits.is_random and self.prior is None
        best_step = self.returns.best_step if is_settling else None
        return self._best_policy(self._optimistic_prior, self._imagined, best_step)

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

    def _best_policy(
        self,
        prior: float,
        imagined: float = 0.0,
        best_step: float | None = None,
        most_spread: float = math.inf,
        gamma: float | None = None,
    ) -> tuple[Policy, Table]:
        """The policy of mirror descent, and its action values above the prior.

        Imagined visits led to the prior or, with `best_step`, paid that and stayed in place.
        """
        data, stays = self.data, best_step is not None
        gamma = self.gamma if gamma is None else gamma
        if data.size == 0:
            return uniform_policy(self.n_actions), Table(data.index, np.zeros((0, self.n_actions)))
        above_prior = data.pair_reward + prior * (gamma * data.pair_continuing - data.pair_count)
        if best_step is not None:
            above_prior = above_prior + imagined * (best_step - (1.0 - gamma) * prior)
            self._staying.imagined = imagined
        solver = self._solvers[stays]
        solver.update()
        ridge = imagined / data.size
        shape = (len(data.index), self.n_actions)
        action_values = np.zeros(shape)

        def solve(policy: NDArray) -> NDArray:
            return solver.solve(above_prior, policy, gamma, ridge)

        def backup(policy: NDArray) -> NDArray:
            nonlocal action_values
            values = (policy * action_values).sum(axis=1)
            action_values = solver.backup(above_prior, values, gamma, ridge)
            return action_values

        solves = self._planning.exact is not False
        settled = settle(
            solve if solves else backup,
            shape,
            tolerance=_EXACT,
            growth=self._planning.growth,
            most_steps=MOST_STEPS if solves else _MOST_BACKUPS,
            most_spread=most_spread or math.inf,
            **self._steps,
        )
        policy = TablePolicy(Table(data.index, settled.exponents))
        return policy, Table(data.index, settled.action_values)

    def health(self, time_limit: int | None) -> dict[str, float]:
        policy = self.target_policy
        if self.data.size == 0:
            return {}
        shown_return, unvisited_share = self._judge(policy, time_limit or _STEPS_WITHOUT_LIMIT)
        return {"shown_return": shown_return, "unvisited_share": unvisited_share}

    def _judge(self, policy: Policy, n_steps: int) -> tuple[float, float]:
        """What the data say of episodes of a policy, from the first states seen.

        Their mean return, and the share of them that come to a pair never visited, after which each
        step earns what training earned on average.
        """
        data, (states, _, rewards, _, _) = self.data, self.history.columns(0, self.data.size)
        n_states = len(data.index)
        probabilities = policy.probabilities(data.index.states)
        of_pair = probabilities[data.pair_state, data.pair_action]
        of_visit = of_pair / data.pair_count
        mean_rewards = np.bincount(data.pair_state, of_visit * data.pair_reward, n_states)
        following = csr_array(
            (
                of_visit[data.triple_pair] * data.continuing_count,
                (data.pair_state[data.triple_pair], data.triple_next),
            ),
            shape=(n_states, n_states),
        )
        known = np.bincount(data.pair_state, of_pair, n_states)
        unknown, per_step = np.clip(1.0 - known, 0.0, 1.0), float(rewards.mean())
        returns, strays = np.zeros(n_states), np.zeros(n_states)
        for steps_left in range(1, n_steps + 1):
            returns = mean_rewards + unknown * per_step * steps_left + following @ returns
            strays = unknown + following @ strays
        first = data.index.find(states[self._starts], missing=0)
        return float(returns[first].mean()), float(strays[first].mean())

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
