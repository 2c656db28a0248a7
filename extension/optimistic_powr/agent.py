"""OptimisticPOWR: the paper's ingredients with optimism and replanning, and nothing to set.

Deviations from the paper, each undone alone in extension/README.md: unvisited state-action pairs
are worth the best return seen so far; plans are made as soon as something was learned, each from
the uniform policy with growing steps; the discount follows from the time limit; in a box the
transition operator is composition with a learned displacement (`displacement.py`), and a plan that
did clearly better than the newest is shown in its place (`track_record.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Space
from numpy.typing import NDArray

from optimistic_powr.box_planner import BoxPlanner
from optimistic_powr.diagnosis import more_findings
from optimistic_powr.finite_planner import IMAGINED_PER_LOG_VISITS, FinitePlanner
from optimistic_powr.growing_steps import MIRROR_DESCENT
from powr.agent import Agent
from powr.data import History
from powr.environment import env_or_spaces, limit_of
from powr.health import findings, shifting_scales
from powr.kernels import Dirac, Kernel, check_kernel
from powr.mirror_descent import Policy
from powr.storage import chain_ends
from powr.validation import (
    check_count,
    check_flag,
    check_gamma,
    check_number,
    check_positive,
    refuse_env_arguments,
)

# The horizon 1 / (1 - gamma) is this many times the time limit, within bounds.
_HORIZONS_PER_LIMIT = 10
_LEAST_GAMMA, _LARGEST_GAMMA = 0.99, 0.999
_WHY_GAMMA = "a horizon of ten time limits, at most 1,000 steps"
_WHY_GAMMA_WITHOUT_LIMIT = "a horizon of 1,000 steps, since there is no time limit"

# Errors of interpolated values add up over the horizon: it is kept short in a box.
_GAMMA_IN_BOX = 0.99


class OptimisticPOWR(Agent):
    """An extension of POWR that explores by optimism and needs no settings.

    What is None is chosen from the task and the data; `settings_` says what was chosen and why.
    `fit` makes one plan from logged data, with caution about what they do not show: actions that
    were never taken where they are judged, in a box nearby, are worth the least that rewards allow.

    Parameters
    ----------
    env : gymnasium.Env or str
    observation_space, action_space : Space
        As for `POWR`.
    kernel : Kernel, default=None
        The kernel of values in a box, a function of distances. Default: `Exponential`. Finite
        observations have `Dirac`.
    gamma : float, default=None
        The discount factor. Default: from the time limit for finite observations, else 0.99; the
        horizon of the policy that `predict` shows is the time limit where that is clearly better.
    step_size : float, default=None
        eta of Eq. (14). Default: steps that grow, in units of the range of the action values.
    mirror_steps : int, default=None
        Steps of mirror descent per plan. Default: until the action values settle.
    regularization : float, default=None
        lambda of Eq. (10), for finite observations. Default: one imagined visit per pair where
        outcomes vary, nearly none elsewhere.
    prior : float, default=None
        The value of unvisited state-action pairs. Default: the best return-to-go seen, or
        r_max / (1 - gamma) where rewards are positive.
    plan_within_episodes : bool, default=True
        Whether to plan as soon as something was learned, or only between episodes.
    cautious : bool, default=True
        Whether `predict` avoids unvisited pairs, or shows the optimistic policy that acts.
    keep_best : bool, default=True
        In a box, whether `predict` shows the plan of the best episodes in a row where the last ones
        were clearly worse, or always the newest plan.
    terminal_values : bool, default=True
        In a box, whether a reward paid on termination is the value of the terminal state, or a
        sample of the smooth reward map.
    seed : int or None, default=0
        Seeds every random draw, those of the environment included. None draws a seed.

    Attributes
    ----------
    num_timesteps : int
    episode_returns : list of float
    settings_ : dict
        What was chosen: by the name of the setting, a pair of value and reason. Whatever `learn`
        warns of is there too, such as `worse_than_training`: True, and the warning.
    n_plans_ : int
    model_ : DisplacementModel or None
        The model of the last plan in a box; None before it, and for finite observations.

    Examples
    --------
    >>> agent = OptimisticPOWR("FrozenLake-v1", seed=0).learn(100)
    >>> action, _ = agent.predict(0)
    """

    # Replaced by ablations (extension/planners) alone.
    _planning = MIRROR_DESCENT
    _imagined_per_log_visits = IMAGINED_PER_LOG_VISITS

    @refuse_env_arguments
    def __init__(
        self,
        env: gymnasium.Env | str | None = None,
        *,
        observation_space: Space | None = None,
        action_space: Space | None = None,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        mirror_steps: int | None = None,
        regularization: float | None = None,
        prior: float | None = None,
        plan_within_episodes: bool = True,
        cautious: bool = True,
        keep_best: bool = True,
        terminal_values: bool = True,
        seed: int | None = 0,
    ):
        super().__init__(env_or_spaces(env, observation_space, action_space), seed)
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.mirror_steps = mirror_steps
        self.regularization = regularization
        self.prior = prior
        self.plan_within_episodes = plan_within_episodes
        self.cautious = cautious
        self.keep_best = keep_best
        self.terminal_values = terminal_values
        self.n_plans_ = 0
        self._plan_times: list[int] = []
        self._check_settings()
        # That of training, which another environment on loading leaves alone.
        self._time_limit = limit_of(self.env) if gamma is None else None
        self._current: FinitePlanner | BoxPlanner | None = self._new_planner()

    @property
    def settings_(self) -> dict[str, tuple[Any, str]]:
        chosen = self._planner.chosen()
        chosen = {name: why for name, why in chosen.items() if getattr(self, name) is None}
        return {**chosen, **{subject: (True, fault) for subject, fault in self.health_.items()}}

    @property
    def model_(self) -> Any:
        return self._planner.model

    def _observe(self, transition: tuple, ended: bool) -> None:
        with self._changing() as planner:
            if self.data.starts[-1] == self.data.size - 1:
                planner.begin_episode()
            if planner.observe(transition, ended):
                planner.plan()
                planner.policy  # noqa: B018  a plan in a box is made when it is asked for
                self._plan_times, self.n_plans_ = [*planner.plan_times], self.n_plans_ + 1

    def _learn_logged(self, data: History) -> None:
        self.data, self._plan_times, self.n_plans_ = data, [data.size], 1
        self._current = self._replayed(self._plan_times)

    @property
    def health_(self) -> dict[str, str]:
        """What is wrong, by subject."""
        returns = self.episode_returns
        with self._changing() as planner:
            of_planner = planner.health(limit_of(self.env))
        overshoot = of_planner.pop("overshoot", 0.0)
        found = findings(self.num_timesteps, self.n_plans_, returns, overshoot, epoch="plan")
        return {**shifting_scales(self.env), **found, **more_findings(returns, **of_planner)}

    def _behaviour(self) -> Policy:
        return self._planner.policy

    def _target_policy(self) -> Policy:
        with self._changing() as planner:
            return planner.target_policy

    def _action_values(self, states: NDArray) -> NDArray:
        with self._changing() as planner:
            return planner.action_values(states)

    @property
    def _planner(self) -> FinitePlanner | BoxPlanner:
        """The planner; after an interrupt it is made again from the data."""
        if self._current is None:
            self._current = self._replayed(self._plan_times)
        return self._current

    @contextmanager
    def _changing(self) -> Iterator[FinitePlanner | BoxPlanner]:
        """Drop the planner if an interrupt or an error leaves it half updated."""
        planner = self._planner
        try:
            yield planner
        except BaseException:
            self._current = None
            raise

    def _replayed(self, plan_times: list[int]) -> FinitePlanner | BoxPlanner:
        """A planner that has seen all data, and planned after each of these numbers of them."""
        planner = self._new_planner()
        starts, planned, ended = first_rows(self.data), set(plan_times), self.data.ended.tolist()
        columns = [
            column.tolist() if column.ndim == 1 else column for column in self.data.columns()
        ]
        for row, transition in enumerate(zip(*columns, strict=True)):
            if row in starts:
                planner.begin_episode()
            planner.observe(transition, ended[row])
            if row + 1 in planned:
                planner.plan()
        return planner

    def _new_planner(self) -> FinitePlanner | BoxPlanner:
        common: dict[str, Any] = {
            "prior": self.prior,
            "step_size": self.step_size,
            "mirror_steps": self.mirror_steps,
            "plan_within_episodes": self.plan_within_episodes,
            "cautious": self.cautious,
            "planning": self._planning,
        }
        if self.data.state_shape != ():
            gamma = _GAMMA_IN_BOX if self.gamma is None else self.gamma
            return BoxPlanner(
                self.data,
                self.n_actions,
                gamma=gamma,
                kernel=self.kernel,
                keep_best=self.keep_best,
                terminal_values=self.terminal_values,
                **common,
            )
        limit = limit_of(self.env)
        return FinitePlanner(
            self.data,
            self.n_actions,
            gamma=gamma_of(limit) if self.gamma is None else self.gamma,
            why_gamma=_WHY_GAMMA if limit else _WHY_GAMMA_WITHOUT_LIMIT,
            time_limit=self._time_limit,
            regularization=self.regularization,
            imagined_per_log_visits=self._imagined_per_log_visits,
            **common,
        )

    def _check_settings(self) -> None:
        is_finite = self.data.state_shape == ()
        if self.kernel is not None:
            check_kernel(self.kernel, self.data.state_shape)
            if is_finite and not isinstance(self.kernel, Dirac):
                raise ValueError(
                    f"kernel {self.kernel!r} does not suit finite observations: leave it out, or "
                    "use POWR"
                )
        if self.regularization is not None and not is_finite:
            raise ValueError("regularization has no effect in a box: leave it out, or use POWR")
        for name, check in (
            ("gamma", check_gamma),
            ("step_size", check_positive),
            ("mirror_steps", check_count),
            ("regularization", check_positive),
            ("prior", check_number),
        ):
            if getattr(self, name) is not None:
                check(getattr(self, name), name)
        for name in ("plan_within_episodes", "cautious", "keep_best", "terminal_values"):
            check_flag(getattr(self, name), name)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        state = {"plan_times": self._plan_times, "n_plans": self.n_plans_}
        return {**state, "gamma": self._planner.gamma, "time_limit": self._time_limit}, {}

    def _restore(self, state: dict[str, Any], arrays: dict[str, NDArray]) -> None:
        self.n_plans_, self._plan_times = int(state["n_plans"]), [*map(int, state["plan_times"])]
        if not all(0 < time <= self.data.size for time in self._plan_times):
            raise ValueError(
                f"its plans, after {self._plan_times} transitions, are not among its "
                f"{self.data.size} transitions"
            )
        self._time_limit = state.get("time_limit")
        if self._planner.gamma != state["gamma"]:  # another time limit must not change the policy
            self.gamma = float(state["gamma"])
        self._current = None


def first_rows(data: History) -> set[int]:
    """Where episodes begin; one of logged transitions does where they do not follow on the last."""
    states, _, _, next_states, terminated = data.columns()
    ends = chain_ends(states, next_states) | terminated
    return {0, *data.starts, *(np.flatnonzero(ends) + 1).tolist()}


def gamma_of(limit: int | None) -> float:
    """A discount whose horizon is several time limits."""
    if not limit:
        return _LARGEST_GAMMA
    return min(max(1.0 - 1.0 / (_HORIZONS_PER_LIMIT * limit), _LEAST_GAMMA), _LARGEST_GAMMA)
