"""POWR, the agent: experience, world model and mirror descent in alternation.

The agent plays with an optimistic policy and plans anew whenever something was learned: Algorithm 1
on all data, from the uniform policy (`planners.py`). `summed=True` gives the alternation as the
paper prints it and the authors run it (`epochs.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.collecting import Collector
from powr.epochs import EpochPlanner
from powr.kernels import Kernel
from powr.mirror_descent import MIRROR_DESCENT
from powr.planners import Planner
from powr.progress import Progress
from powr.settings import KernelSetting, Setting, make_planner, rebuilt
from powr.solvers import TOLERANCE, check_method
from powr.spaces import make_env
from powr.validation import (
    check_count,
    check_flag,
    check_gamma,
    check_not_negative,
    check_number,
    check_positive,
    check_seed,
)

Callback = Callable[["POWR"], Any]


class POWR:
    """Policy mirror descent with an operator world model.

    `POWR(env).learn(n)` needs no settings: what is None is chosen from the task and the data, and
    `settings_` says what was chosen and why.

    Parameters
    ----------
    env : a gymnasium environment or the id of one, with `Discrete` actions and observations that
        are a `Box` (flattened) or finite: `Discrete`, `MultiDiscrete`, `MultiBinary`, or a `Tuple`
        or `Dict` of such.
    kernel : the state kernel, one of `powr.kernels` or, with `summed`, a callable of your own.
        Default: `Dirac` for finite observations, `Exponential` for a box.
    gamma : the discount factor. Default: from the time limit for finite observations, else 0.99.
    step_size : eta of Eq. (14). Default: steps that grow, in units of the spread of the values.
        Steps of one size settle slowly: without mirror_steps, a plan takes up to 500 of them.
    mirror_steps : steps of mirror descent per plan. Default: until the values settle.
    regularization : lambda of Eq. (10). Default, for finite observations: one imagined visit per
        pair where outcomes vary, none elsewhere.
    prior : the value of the untried. Default: the best return-to-go seen, or best reward for ever.
    plan_within_episodes : whether to plan as soon as something was learned, or between episodes.
    summed : whether plans start from the last policy and add to its exponent for ever, as in the
        paper, instead of starting from the uniform policy. The settings below need it. With it
        the defaults of gamma, step_size, mirror_steps, regularization and prior are 0.99, 1, 10,
        1e-6 and 0.
    episodes_per_epoch : the least number of episodes between two plans.
    epoch_growth : the least growth of the data between two plans, as a fraction of what there is.
    method, tolerance, max_rank : how the world model is solved, see `WorldModel`.
    seed : seeds every random draw, those of the environment included.

    Attributes
    ----------
    num_timesteps : environment steps taken so far.
    episode_returns : the return of each finished episode.
    settings_ : what was chosen, by the name of the setting: pairs of a value and the reason.
    n_plans_ : plans made so far.
    model_ : the world model of the last plan; None before it, and for finite observations.

    Examples
    --------
    >>> agent = POWR("FrozenLake-v1", seed=0).learn(100)
    >>> action, _ = agent.predict(0)
    >>> agent.action_probabilities([0, 1]).shape
    (2, 4)
    """

    kernel = KernelSetting()
    gamma = Setting(check_gamma, may_be_chosen=True)
    step_size = Setting(check_positive, may_be_chosen=True)
    mirror_steps = Setting(check_count, may_be_chosen=True)
    regularization = Setting(check_positive, may_be_chosen=True)
    prior = Setting(check_number, may_be_chosen=True)
    plan_within_episodes = Setting(check_flag)
    summed = Setting(check_flag)
    episodes_per_epoch = Setting(check_count)
    epoch_growth = Setting(check_not_negative)
    method = Setting(check_method)
    tolerance = Setting(check_not_negative)
    max_rank = Setting(check_count)

    # What the ablation of mirror descent replaces (baselines/planners), and nobody else.
    _planning = MIRROR_DESCENT

    def __init__(
        self,
        env: gymnasium.Env | str,
        *,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        mirror_steps: int | None = None,
        regularization: float | None = None,
        prior: float | None = None,
        plan_within_episodes: bool = True,
        summed: bool = False,
        episodes_per_epoch: int = 1,
        epoch_growth: float = 0.05,
        method: str = "auto",
        tolerance: float = TOLERANCE,
        max_rank: int = 1000,
        seed: int = 0,
    ):
        self._seed = check_seed(seed)
        training, prediction = np.random.SeedSequence(self._seed).spawn(2)
        self._collector = Collector(make_env(env), np.random.default_rng(training))
        self._prediction_generator = np.random.default_rng(prediction)
        self.n_actions = int(self._collector.actions.n)
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.mirror_steps = mirror_steps
        self.regularization = regularization
        self.prior = prior
        self.plan_within_episodes = plan_within_episodes
        self.summed = summed
        self.episodes_per_epoch = episodes_per_epoch
        self.epoch_growth = epoch_growth
        self.method = method
        self.tolerance = tolerance
        self.max_rank = max_rank
        self.n_plans_ = 0
        self._current = make_planner(self)
        self._plan_is_due = False
        self._before_episode = (0, 0)  # when was planned last, and how many plans there were

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def env(self) -> gymnasium.Env:
        return self._collector.env

    def __repr__(self) -> str:
        name = self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__
        return f"<POWR on {name}, {self.num_timesteps:,} timesteps>"

    @property
    def num_timesteps(self) -> int:
        return self._collector.num_timesteps

    @property
    def episode_returns(self) -> list[float]:
        return self._collector.episode_returns

    @property
    def model_(self) -> Any:
        return self._planner.model

    @property
    def settings_(self) -> dict[str, tuple[Any, str]]:
        chosen = self._planner.chosen()
        return {name: why for name, why in chosen.items() if getattr(self, name, None) is None}

    def learn(
        self, total_timesteps: int, callback: Callback | None = None, progress_bar: bool = False
    ) -> POWR:
        """Take `total_timesteps` more steps in the environment and learn from them.

        An episode that the last step leaves open is taken up by the next call, so that two calls
        equal one. It is played again from its seed after an interrupt, such as Ctrl-C, and where
        the environment was used in between; if it goes another way, it is taken back.
        `callback(agent)` is called after every step; a true answer ends the call.
        """
        check_count(total_timesteps, "total_timesteps")
        self._take_up()
        goal = self.num_timesteps + total_timesteps
        with Progress(self, total_timesteps, enabled=progress_bar) as progress:
            while self.num_timesteps < goal:
                self._step()
                progress.step()
                if callback is not None and self._lend(callback):
                    break
        self._collector.leave()
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray | np.integer, Any]:
        """The action for one observation, or those for a batch: sampled, or the likeliest.

        A batch is a list or an array of observations or, where these have parts, an array per
        part, as gymnasium has it. The signature is stable-baselines3's, for its `evaluate_policy`.
        There is no memory: `state` is handed back as it came, `episode_start` changes nothing.
        """
        states, single = self._collector.observations.states(observation)
        if deterministic:
            actions = self._planner.shown.greedy(states)
        else:
            draws = self._prediction_generator.random(len(states))
            actions = self._planner.shown.sample(states, draws)
        actions = actions + int(self._collector.actions.start)
        return (actions[0] if single else actions), state

    def action_probabilities(self, observations: Any) -> NDArray:
        """The policy at a batch of observations, (n, n_actions)."""
        states, _ = self._collector.observations.states(observations)
        return self._planner.shown.probabilities(states)

    def save(self, path: str | Path) -> None:
        """Write the agent, its data and its random state to one `.npz` file."""
        from powr.checkpoint import save

        save(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: gymnasium.Env | str | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> POWR:
        """Read an agent; without `env` its environment is made anew by its id.

        In an `env` with another time limit, the discount stays the one that was chosen in training.
        `kernel` is needed only where the agent was trained with one that is not of `powr.kernels`.
        """
        from powr.checkpoint import load

        return load(path, env, kernel)

    @property
    def _planner(self) -> Planner:
        """The planner; one that an interrupt left half changed is made again from the data."""
        if not self._current.is_whole:
            self._current, self._plan_is_due = rebuilt(self, self._current.planned_at)
        return self._current

    def _take_up(self) -> None:
        """Be ready to go on, also after an interrupt and with settings changed before the start."""
        if self.num_timesteps == 0:
            self._current = make_planner(self)
        self._collector.take_up()
        self._forget_what_was_taken_back()
        planner = self._planner
        if planner.size < self.num_timesteps:  # an interrupt came between a step and its plan
            for transition, ended in islice(self._collector.transitions(), planner.size, None):
                self._plan_is_due = planner.observe(transition, ended)

    def _step(self) -> None:
        """One step in the environment, and a plan where one is due."""
        self._plan_if_due()  # where an interrupt kept the last one from being made
        collector, planner = self._collector, self._planner
        if collector.episode is None:
            self._before_episode = (planner.planned_at, self.n_plans_)
        try:
            ended = collector.step(planner.policy)
        except Exception:
            self._forget_what_was_taken_back()
            raise
        self._plan_is_due = planner.observe(collector.last_transition, ended)
        self._plan_if_due()

    def _plan_if_due(self) -> None:
        if self._plan_is_due:
            planner = self._planner
            if planner.planned_at < planner.size:  # else an interrupt came after the plan
                planner.plan()
            self._plan_is_due, self.n_plans_ = False, self.n_plans_ + 1

    def _lend(self, callback: Callback) -> Any:
        """The answer of a callback, which may use the environment."""
        answer = self._collector.lend(callback, self)
        self._forget_what_was_taken_back()
        return answer

    def _forget_what_was_taken_back(self) -> None:
        planner = self._planner
        if planner.size > self.num_timesteps:
            planned_at, self.n_plans_ = self._before_episode
            if isinstance(planner, EpochPlanner):
                planner.forget_open_episode()
                self._plan_is_due = False
            else:
                self._current, self._plan_is_due = rebuilt(self, planned_at)
