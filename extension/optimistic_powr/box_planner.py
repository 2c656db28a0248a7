"""Planning in a box: optimistic mirror descent in a displacement model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimistic_powr.displacement import DisplacementModel
from optimistic_powr.endings import ended_by_clock
from optimistic_powr.planner import Planner
from optimistic_powr.track_record import TrackRecord
from powr.data import History
from powr.kernels import Kernel, Stationary
from powr.mirror_descent import Policy, uniform_policy

# Transitions before the first plan: enough to fit a linear trend.
_FIRST_PLAN = 20

# Replan when the data have grown by this factor; at the end of an episode less is enough.
_GROWTH_OF_DATA = 1.15
_GROWTH_AT_END = 1.05


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
        """Without optimism: unvisited states are worth the least value of all visited ones."""
        return self._make_model(self._size, float(self.model.values.min()))


class BoxPlanner(Planner):
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
        states, actions, rewards, next_states, terminated = self.history.columns(0, size)
        truncated = self.history.ended[:size] & ~terminated
        is_over = terminated | ended_by_clock(states, next_states, truncated)
        return DisplacementModel(
            (states, actions, rewards, next_states, is_over),
            self.n_actions,
            gamma=self.gamma,
            prior=prior,
            value_range=self._value_range(rewards, terminated, prior),
            kernel=self.kernel,
            terminal_values=self._terminal_values,
            avoid_unvisited=self._cautious and not self.history.starts,  # logged, and nothing else
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

    def _value_range(
        self, rewards: NDArray, terminated: NDArray, prior: float
    ) -> tuple[float, float]:
        """What a terminating step pays is paid once, other rewards over the horizon."""
        recurring = np.append(rewards[~terminated], 0.0) / (1.0 - self.gamma)
        every = [*recurring, *rewards[terminated], prior]
        return min(every), max(every)

    def health(self, time_limit: int | None) -> dict[str, float]:
        """How far the values of the plan that acts leave the range that rewards allow, and in what
        share of the visited states the one shown prefers an action never taken nearby.
        """
        acting, shown = self.model, self._target_model()
        if acting is None or shown is None:
            return {}
        _, _, rewards, _, terminated = self.history.columns(0, self._size)
        low, high = self._value_range(rewards, terminated, acting.prior)
        values = acting.action_values(acting.centers * acting.scale)
        beyond = max(low - values.min(), values.max() - high, 0.0)
        preferred = Policy(shown).greedy(shown.visited * shown.scale)
        familiarity = shown.familiarity(shown.visited)[np.arange(len(preferred)), preferred]
        facts = {"unvisited_share": float((familiarity == 0.0).mean())}
        return facts | ({"overshoot": float(beyond / (high - low))} if high > low else {})

    def chosen(self) -> dict[str, Any]:
        kernel = None if self.model is None else self.model.kernel
        return {
            "kernel": (kernel, "wider than the visited states, so that its width hardly matters"),
            "gamma": (self.gamma, "errors of values between states add up over the horizon"),
            "prior": self.returns.best_and_reason(),
        }
