"""When to plan and what for: the rhythm and the optimism of an agent that sets nothing by hand.

A plan is Algorithm 1 on all data, from the uniform policy: what a planner knows is a function of
the transitions alone, so that an agent can be saved as its data and an interrupted plan leaves
nothing to take back. Behaviour is optimistic: what was never tried is worth the best return seen
so far, or the best reward for ever. Where observations are finite, the policy that is shown takes
the untried to be the worst; in a box it is the one that acts.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from powr.dynamics import DisplacementModel
from powr.functions import Constant, Table
from powr.kernels import Dirac, Kernel, Stationary
from powr.mirror_descent import MIRROR_DESCENT, MOST_STEPS, Planning, settle
from powr.news import News
from powr.policy import Policy, TablePolicy
from powr.returns import ReturnRange
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.transitions import Columns, Transitions, as_columns, joined

# Imagined visits of the best value: one where outcomes were seen to vary, next to none elsewhere.
_IMAGINED_IF_RANDOM = 1.0
_IMAGINED_IF_DETERMINISTIC = 1e-6

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


class Planner(Protocol):
    """What an agent asks of its planner; `policy` acts, `shown` is what `predict` returns.

    A planner that is not whole was interrupted while it changed, and must be made again.
    """

    planned_at: int

    @property
    def size(self) -> int: ...

    @property
    def is_whole(self) -> bool: ...

    @property
    def policy(self) -> Policy: ...

    @property
    def shown(self) -> Policy: ...

    @property
    def model(self) -> Any: ...

    @property
    def n_states(self) -> int:
        """States that the last plan has values of."""

    def observe(self, transition: tuple, ended: bool) -> bool:
        """Take in one transition; True where a plan is due."""

    def plan(self) -> None: ...

    def chosen(self) -> dict[str, Any]:
        """What was chosen and why, by the name of the setting."""


class _Optimist:
    """What the planners have in common: settings, the returns seen, and the policy that acts."""

    def __init__(
        self,
        n_actions: int,
        *,
        gamma: float,
        prior: float | None,
        step_size: float | None,
        mirror_steps: int | None,
        plan_within_episodes: bool,
        planning: Planning = MIRROR_DESCENT,
    ):
        self.n_actions, self.gamma, self.prior = n_actions, gamma, prior
        self._steps: dict[str, Any] = {"step_size": step_size, "mirror_steps": mirror_steps}
        self._within = plan_within_episodes
        self._planning = planning
        self.returns = ReturnRange(gamma)
        self.policy = Policy(Constant(0.0, n_actions))
        self.planned_at = 0
        self._waiting: list[tuple] = []
        self._rewards: list[float] = []
        self.is_whole = True


class FinitePlanner(_Optimist):
    """Optimistic mirror descent in the empirical MDP.

    Every pair has a fraction of a visit more than it had, imagined, that led to the best return:
    the ridge n lambda of Eq. (10) is that fraction, and the prior is that return.
    """

    def __init__(
        self, n_actions: int, *, regularization: float | None, why_gamma: str = "", **settings: Any
    ):
        super().__init__(n_actions, **settings)
        self.regularization, self._why_gamma = regularization, why_gamma
        self.data = Transitions((), n_actions)
        self._solver = EmpiricalMDP(self.data)
        self._news = News()
        self._shown: Policy | None = None
        self.model = None

    @property
    def size(self) -> int:
        return self.data.size + len(self._waiting)

    @property
    def n_states(self) -> int:
        return len(self.data.index)

    def observe(self, transition: tuple, ended: bool) -> bool:
        state, action, reward, next_state, terminated = transition
        self.is_whole = False
        self._waiting.append(transition)
        self._rewards.append(reward)
        best = self.returns.best
        self.returns.see(self._rewards, ended, terminated)
        is_due = self._news.see((state, action), (next_state, reward, terminated)) and self._within
        if ended:
            self._rewards = []
            is_due = bool(self._news.pairs) or self.is_random or self.returns.best != best
        self.is_whole = True
        return is_due

    def plan(self) -> None:
        self._take_in()
        prior = self.returns.best if self.prior is None else self.prior
        policy = self._best_policy(prior, self._imagined)
        # All that takes time is done, so that an interrupt finds the old policy or the new one.
        self.policy, self.planned_at, self._news.pairs = policy, self.size, set()

    @property
    def is_random(self) -> bool:
        return self._news.is_random

    @property
    def shown(self) -> Policy:
        """The best policy without imagined visits: the untried is the worst, whatever the prior."""
        if self._shown is None or self._waiting:
            self._take_in()
            self._shown = self._best_policy(self.returns.below_all, _IMAGINED_IF_DETERMINISTIC)
        return self._shown

    @property
    def _imagined(self) -> float:
        if self.regularization is not None:
            return self.regularization * self.data.size
        return _IMAGINED_IF_RANDOM if self.is_random else _IMAGINED_IF_DETERMINISTIC

    def _take_in(self) -> None:
        if self._waiting:
            self.is_whole = False
            self.data.add(*as_columns(self._waiting))
            self._waiting, self._shown = [], None
            self._solver.update()
            self.is_whole = True

    def _best_policy(self, prior: float, imagined: float) -> Policy:
        data = self.data
        if data.size == 0:
            return Policy(Constant(0.0, self.n_actions))
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
        return TablePolicy(Table(data.index, settled.exponents))

    def chosen(self) -> dict[str, Any]:
        return {
            "kernel": (Dirac(), "the states are finite"),
            "gamma": (self.gamma, self._why_gamma),
            "prior": self.returns.best_and_reason(),
            "regularization": (
                self._imagined / max(self.data.size, 1),
                "one imagined visit per pair, since outcomes vary"
                if self.is_random
                else "next to none, since no outcome has varied yet",
            ),
        }


class BoxPlanner(_Optimist):
    """Optimistic mirror descent in a displacement model."""

    def __init__(self, n_actions: int, *, kernel: Kernel | None, **settings: Any):
        if kernel is not None and not isinstance(kernel, Stationary):
            raise ValueError(
                f"kernel {kernel!r} is not a function of distances, which the values of a box "
                "need: use another of powr.kernels, or give summed=True"
            )
        super().__init__(n_actions, **settings)
        self.kernel = kernel
        self.model: DisplacementModel | None = None
        self._chunks: list[Columns] = []
        self.size = 0

    def observe(self, transition: tuple, ended: bool) -> bool:
        self.is_whole = False
        self._waiting.append(transition)
        self.size += 1
        self._rewards.append(transition[2])
        self.returns.see(self._rewards, ended, transition[4])
        if ended:
            self._rewards = []
        self.is_whole = True
        if self.size < _FIRST_PLAN or not (ended or self._within):
            return False
        growth = self.size / max(self.planned_at, 1)
        return growth >= (_GROWTH_AT_END if ended else _GROWTH_OF_DATA)

    def plan(self) -> None:
        if self._waiting:
            columns = joined([*self._chunks, as_columns(self._waiting)])
            self._chunks, self._waiting = [columns], []
        prior = self.returns.best if self.prior is None else self.prior
        model = DisplacementModel(
            self._chunks[0],
            self.n_actions,
            gamma=self.gamma,
            prior=prior,
            value_range=self._value_range(prior),
            kernel=self.kernel,
            planning=self._planning,
            **self._steps,
        )
        self.model, self.policy, self.planned_at = model, Policy(model), self.size

    @property
    def shown(self) -> Policy:
        """The policy that acts, with its optimism."""
        return self.policy

    @property
    def n_states(self) -> int:
        return 0 if self.model is None else len(self.model.centers)

    def _value_range(self, prior: float) -> tuple[float, float]:
        rewards = self._chunks[0][2]
        low, high = float(rewards.min()), float(rewards.max())
        horizon = 1.0 / (1.0 - self.gamma)
        return min(low * horizon, low, prior, 0.0), max(high * horizon, high, prior, 0.0)

    def chosen(self) -> dict[str, Any]:
        kernel = None if self.model is None else self.model.kernel
        return {
            "kernel": (kernel, "wider than the visited states, so that its width does not matter"),
            "gamma": (self.gamma, "errors of values between states add up over the horizon"),
            "prior": self.returns.best_and_reason(),
        }
