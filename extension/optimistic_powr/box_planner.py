"""Planning in a box: optimistic mirror descent in a displacement model."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimistic_powr.displacement import DisplacementModel
from optimistic_powr.planner import Planner
from optimistic_powr.simulation import Simulator, is_trusted
from optimistic_powr.track_record import TrackRecord
from powr.data import History
from powr.kernels import Kernel, Stationary
from powr.mirror_descent import Policy, uniform_policy

# Transitions before the first plan: enough to fit a linear trend.
_FIRST_PLAN = 20

# Replan when the data have grown by this factor; at the end of an episode less is enough, unless
# the plan that acts was judged.
_GROWTH_OF_DATA = 1.15
_GROWTH_AT_END = 1.05

# A plan is judged anew once its episodes fall short of its simulated return by this share of it.
_SHORTFALL = 0.1

# Simulated returns that differ by less than this share are alike; a new plan that is worse than a
# known one gets so many more trials, with centers on its simulated states.
_ALIKE = 0.03
_MOST_ROUNDS = 1


class BoxPlan:
    """A plan from the first `size` transitions, made when it is first asked for.

    A plan `after` another one is that of the same map with centers on its simulated states.
    """

    def __init__(
        self,
        planner: BoxPlanner,
        size: int,
        prior: float,
        after: BoxPlan | None = None,
    ):
        self._planner, self.size, self._prior, self._after = planner, size, prior, after
        self.key = (size, 0 if after is None else after.key[1] + 1)

    @cached_property
    def model(self) -> DisplacementModel:
        if self._after is None:
            return self._planner.make_model(self.size, self._prior)
        return self._after.model.recentred(self._after.simulated[1])

    @cached_property
    def cautious_model(self) -> DisplacementModel:
        """Without optimism: unvisited states are worth the least value of all visited ones."""
        return self._planner.make_model(self.size, float(self.model.values.min()))

    @cached_property
    def simulator(self) -> Simulator:
        """Of the map of this plan."""
        if self._after is not None:
            return self._after.simulator
        return self._planner.make_simulator(self.model, self.size)

    @cached_property
    def simulated(self) -> tuple[float, NDArray]:
        """Its return and states in its own map."""
        return self.simulator.play(self.model, self._planner.starts(self.size))


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
        limit: int | None = None,
        **settings: Any,
    ):
        if kernel is not None and not isinstance(kernel, Stationary):
            raise ValueError(
                f"kernel {kernel!r} is not a function of distances, which the values of a box "
                "need: use another of powr.kernels, or use POWR"
            )
        super().__init__(history, n_actions, **settings)
        self.kernel, self._keep_best, self._terminal_values = kernel, keep_best, terminal_values
        self._limit = limit
        self._newest: BoxPlan | None = None
        self._judged: BoxPlan | None = None  # the plan that simulates best, where maps are trusted
        self._simulated = 0.0  # its simulated return
        self._shown: DisplacementModel | None = None
        self._returns: list[float] = []  # that it had since it was chosen
        self._at_start: BoxPlan | None = None  # of the episode under way
        self._record = TrackRecord()

    def begin_episode(self) -> None:
        super().begin_episode()
        self._at_start = self._judged or self._newest

    def observe(self, transition: tuple, ended: bool) -> bool:
        """Take in one transition; True where a plan is due."""
        self._size += 1
        self._rewards.append(transition[2])
        self.returns.observe(self._rewards, ended, transition[4])
        if ended and self._judged is not None and self._at_start is self._judged:
            self._returns.append(sum(self._rewards))
        if ended and self._at_start is not None:
            self._record.add(sum(self._rewards), self._at_start)
        if self._size < _FIRST_PLAN or not (ended or self._within):
            return False
        growth = self._size / (self.plan_times[-1] if self.plan_times else 1)
        is_early = ended and self._judged is None
        return growth >= (_GROWTH_AT_END if is_early else _GROWTH_OF_DATA)

    def plan(self) -> None:
        """Plan, and choose what acts; a choice made before, when replayed, is kept."""
        previous, known = self._newest, self._judged or self._newest
        self._newest = BoxPlan(self, self._size, self._optimistic_prior)
        self.plan_times.append(self._size)
        if len(self.choices) < len(self.plan_times):
            is_due = self._keep_best and previous is not None
            self.choices.append(self._choice(previous, known) if is_due else (0, 0, 0.0))
        size, rounds, self._simulated = self.choices[len(self.plan_times) - 1]
        self._judged = None
        if size == self._size:
            self._judged = self._newest
            for _ in range(rounds):
                self._judged = BoxPlan(self, size, self._optimistic_prior, self._judged)
        elif size:
            self._judged = known
        self._returns, self._shown = [], None

    def _choice(self, previous: BoxPlan, known: BoxPlan) -> tuple[int, int, float]:
        """Key and simulated return of the plan that simulates best: a new one, or a known one.

        (0, 0, 0.0) where the newest map is not trusted. The known plan is simulated anew only where
        episodes that it played since fell short of its simulated return.
        """
        newest = self._newest
        # Without a terminal state all simulated episodes are alike.
        columns = self.history.columns(0, self._size)
        if not (columns[4].any() and is_trusted(previous.model, columns, previous.size)):
            return 0, 0, 0.0
        if newest.model.is_random:
            return 0, 0, 0.0
        best = self._simulated
        if known is not self._judged or self._falls_short():
            best = newest.simulator.play(known.model, self.starts(self._size))[0]
        new = newest
        for _ in range(_MOST_ROUNDS):
            if is_better(best, new.simulated[0]):
                new = BoxPlan(self, self._size, self._optimistic_prior, new)
        # Keep the latest of those that are alike.
        if is_better(best, new.simulated[0]):
            return *known.key, best
        return *new.key, new.simulated[0]

    def starts(self, size: int) -> NDArray:
        """States in which episodes began, up to a number of transitions."""
        return self.history.columns(0, size)[0][
            [start for start in self.history.starts if start < size]
        ]

    def make_simulator(self, model: DisplacementModel, size: int) -> Simulator:
        return Simulator(model, self.history.columns(0, size), self._limit)

    def _falls_short(self) -> bool:
        mean = np.mean(self._returns) if self._returns else self._simulated
        return self._simulated - mean > _SHORTFALL * abs(self._simulated)

    def make_model(self, size: int, prior: float) -> DisplacementModel:
        columns = self.history.columns(0, size)
        return DisplacementModel(
            columns,
            self.n_actions,
            gamma=self.gamma,
            prior=prior,
            value_range=self._value_range(columns[2], columns[4], prior),
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
        return self._policy_of(self.model if self._judged is None else self._judged.model)

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
        """That of the newest plan, or of an older one that was clearly better.

        Where plans can be judged, it is simulated too, and shown unless the plan that acts
        simulates better.
        """
        plan = self._record.choose(self._newest) if self._keep_best else self._newest
        if plan is None:
            return None
        model = plan.cautious_model if self._cautious else plan.model
        if self._judged is None:
            return model
        if self._shown is None:
            simulated = self._newest.simulator.play(model, self.starts(self._newest.size))[0]
            self._shown = self._judged.model if is_better(self._simulated, simulated) else model
        return self._shown

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
        """How far the action values of the plan that acts leave the range that rewards allow."""
        model = self.model
        if model is None:
            return {}
        _, _, rewards, _, terminated = self.history.columns(0, self._size)
        low, high = self._value_range(rewards, terminated, model.prior)
        values = model.action_values(model.centers * model.scale)
        beyond = max(low - values.min(), values.max() - high, 0.0)
        return {"overshoot": float(beyond / (high - low))} if high > low else {}

    def chosen(self) -> dict[str, Any]:
        kernel = None if self.model is None else self.model.kernel
        return {
            "kernel": (kernel, "wider than the visited states, so that its width hardly matters"),
            "gamma": (self.gamma, "errors of values between states add up over the horizon"),
            "prior": self.returns.best_and_reason(),
        }


def is_better(simulated: float, other: float) -> bool:
    """Whether a simulated return is clearly better than another one."""
    return simulated - other > _ALIKE * abs(simulated)
