"""When to plan, and with what optimism.

A plan is mirror descent on all data from the uniform policy, so what a planner knows is a function
of the transitions alone. Behaviour is optimistic: an unvisited state-action pair is worth the best
return seen so far, or r_max / (1 - gamma). The target policy, which `predict` shows, is cautious:
for finite observations unvisited pairs are worse than any observed return, in a box what lies far
from the data is worth the least value of all visited states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from powr.data import Counts, History
from powr.kernels import Dirac, Kernel, Stationary
from powr.optimistic.displacement import DisplacementModel
from powr.optimistic.growing_steps import MIRROR_DESCENT, MOST_STEPS, Planning, settle
from powr.optimistic.returns import ReturnRange
from powr.optimistic.track_record import TrackRecord
from powr.optimistic.visits import Visits
from powr.policy import Policy, Table, TablePolicy, uniform_policy
from powr.solvers.empirical_mdp import EmpiricalMDP

# Imagined visits of the best value: next to none where no outcome was seen to vary. Elsewhere one
# and, since a pair may have bad luck at first, so many times the logarithm of the mean visits.
_IMAGINED_IF_DETERMINISTIC = 1e-6
_IMAGINED_IF_RANDOM = 1.0
IMAGINED_PER_LOG_VISITS = 2.0

# A box is worth a new plan when all data have grown by this factor; at the end of an episode less
# will do.
_GROWTH_OF_DATA = 1.15
_GROWTH_AT_END = 1.05

# Policy iteration ends where no action value changes by more than rounding, as a share of their
# range.
_EXACT = 1e-10

# Backups of value iteration: the horizon is at most 1,000, so that they settle well before.
_MOST_BACKUPS = 100_000

# Transitions before the first plan in a box: enough to fit a linear trend.
_FIRST_PLAN = 20


class _Optimist:
    """What the planners share: settings, the returns seen, and the policy that acts.

    Parameters
    ----------
    history : History
        The agent's data, which grows.
    n_actions : int
    gamma, prior, step_size, mirror_steps, plan_within_episodes, cautious
        See `OptimisticPOWR`.
    planning : Planning

    Attributes
    ----------
    policy : Policy
        The policy that acts.
    plan_times : list of int
        Numbers of transitions at the plans from which the planner can be made again.
    """

    def __init__(
        self,
        history: History,
        n_actions: int,
        *,
        gamma: float,
        prior: float | None,
        step_size: float | None,
        mirror_steps: int | None,
        plan_within_episodes: bool,
        cautious: bool = True,
        planning: Planning = MIRROR_DESCENT,
    ):
        self.history = history
        self.n_actions, self.gamma, self.prior = n_actions, gamma, prior
        self._steps: dict[str, Any] = {"step_size": step_size, "mirror_steps": mirror_steps}
        self._within, self._cautious = plan_within_episodes, cautious
        self._planning = planning
        self.returns = ReturnRange(gamma)
        self.plan_times: list[int] = []
        self._size = 0
        self._rewards: list[float] = []  # of the episode under way

    def begin_episode(self) -> None:
        self._rewards = []
        self.returns.begin_episode()

    @property
    def _optimistic_prior(self) -> float:
        return self.returns.best if self.prior is None else self.prior


class FinitePlanner(_Optimist):
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
            is_due = bool(self._visits.unplanned) or self.is_random or self.returns.best != best
        return is_due

    def plan(self) -> None:
        self._count()
        self.policy, _ = self._best_policy(self._optimistic_prior, self._imagined)
        self.plan_times, self._visits.unplanned = [self._size], set()

    @property
    def is_random(self) -> bool:
        return self._visits.is_random

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
        if not self.is_random:
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
                if self.is_random
                else "next to none, since no outcome has varied yet",
            ),
        }


class BoxPlan:
    """A plan from the first `size` transitions, made when it is first asked for.

    `make_model` maps a number of transitions and a prior to a model.
    """

    def __init__(
        self, make_model: Callable[[int, float], DisplacementModel], size: int, prior: float
    ):
        self._make_model, self._size, self._prior = make_model, size, prior

    @cached_property
    def model(self) -> DisplacementModel:
        return self._make_model(self._size, self._prior)

    @cached_property
    def cautious_model(self) -> DisplacementModel:
        """The same without optimism: the unvisited is worth the least value of visited states."""
        return self._make_model(self._size, float(self.model.values.min()))


class BoxPlanner(_Optimist):
    """Optimistic mirror descent in a displacement model."""

    def __init__(
        self,
        history: History,
        n_actions: int,
        *,
        kernel: Kernel | None,
        keep_best: bool = True,
        terminal_values: bool = True,
        **settings: Any,
    ):
        if kernel is not None and not isinstance(kernel, Stationary):
            raise ValueError(
                f"kernel {kernel!r} is not a function of distances, which the values of a box "
                "need: use another of powr.kernels, or use POWR"
            )
        super().__init__(history, n_actions, **settings)
        self.kernel, self._keep_best, self._terminal_values = kernel, keep_best, terminal_values
        self._newest: BoxPlan | None = None
        self._at_start: BoxPlan | None = None  # of the episode under way
        self._record = TrackRecord()

    def begin_episode(self) -> None:
        super().begin_episode()
        self._at_start = self._newest

    def observe(self, transition: tuple, ended: bool) -> bool:
        """Take in one transition; True where a plan is due."""
        self._size += 1
        self._rewards.append(transition[2])
        self.returns.observe(self._rewards, ended, transition[4])
        if ended and self._at_start is not None:
            self._record.add(sum(self._rewards), self._at_start)
        if self._size < _FIRST_PLAN or not (ended or self._within):
            return False
        growth = self._size / (self.plan_times[-1] if self.plan_times else 1)
        return growth >= (_GROWTH_AT_END if ended else _GROWTH_OF_DATA)

    def plan(self) -> None:
        self._newest = BoxPlan(self._make_model, self._size, self._optimistic_prior)
        self.plan_times.append(self._size)

    def _make_model(self, size: int, prior: float) -> DisplacementModel:
        columns = self.history.columns(0, size)
        return DisplacementModel(
            columns,
            self.n_actions,
            gamma=self.gamma,
            prior=prior,
            value_range=self._value_range(columns[2], prior),
            kernel=self.kernel,
            terminal_values=self._terminal_values,
            planning=self._planning,
            **self._steps,
        )

    @property
    def model(self) -> DisplacementModel | None:
        return None if self._newest is None else self._newest.model

    @property
    def policy(self) -> Policy:
        return self._policy_of(self.model)

    @property
    def target_policy(self) -> Policy:
        return self._policy_of(self._target_model())

    def action_values(self, states: NDArray) -> NDArray:
        """Those of the target policy, (n, n_actions)."""
        model = self._target_model()
        if model is None:
            return np.zeros((len(states), self.n_actions))
        return model.action_values(states)

    def _target_model(self) -> DisplacementModel | None:
        """That of the newest plan, or of an older one that was clearly better."""
        plan = self._record.choose(self._newest) if self._keep_best else self._newest
        if plan is None:
            return None
        return plan.cautious_model if self._cautious else plan.model

    def _policy_of(self, model: DisplacementModel | None) -> Policy:
        return uniform_policy(self.n_actions) if model is None else Policy(model)

    def _value_range(self, rewards: NDArray, prior: float) -> tuple[float, float]:
        low, high = float(rewards.min()), float(rewards.max())
        horizon = 1.0 / (1.0 - self.gamma)
        return min(low * horizon, low, prior, 0.0), max(high * horizon, high, prior, 0.0)

    def chosen(self) -> dict[str, Any]:
        kernel = None if self.model is None else self.model.kernel
        return {
            "kernel": (kernel, "wider than the visited states, so that its width hardly matters"),
            "gamma": (self.gamma, "errors of values between states add up over the horizon"),
            "prior": self.returns.best_and_reason(),
        }
