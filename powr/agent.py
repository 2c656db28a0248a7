"""POWR, the agent: episodes, world model and mirror descent in alternation.

One epoch collects episodes with the current policy, adds them to the world model, Eq. (10), and
takes a few steps of mirror descent in it, Algorithm 1. The policy is the softmax of the step size
times the sum of all action-value estimates so far, Eq. (15), kept as one weight matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.collecting import Collector
from powr.kernels import Kernel
from powr.planning import Plan, first_plan, summed_plan
from powr.progress import Progress
from powr.settings import KernelSetting, Setting
from powr.solvers import TOLERANCE, check_method
from powr.spaces import default_kernel, make_env
from powr.transitions import Columns
from powr.validation import (
    check_count,
    check_gamma,
    check_not_negative,
    check_number,
    check_positive,
    check_seed,
)
from powr.world_model import WorldModel

Callback = Callable[["POWR"], Any]


class POWR:
    """Policy mirror descent with an operator world model.

    Parameters
    ----------
    env : a gymnasium environment or the id of one, with `Discrete` actions and observations that
        are a `Box` (flattened) or finite: `Discrete`, `MultiDiscrete`, `MultiBinary`, or a `Tuple`
        or `Dict` of such.
    kernel : the state kernel, one of `powr.kernels` or a callable of your own. Default: `Dirac` for
        finite observations; `Exponential` for a box, with a third of each dimension's range as
        bandwidth.
    step_size : eta of Eq. (14). Larger steps turn greedy sooner.
    regularization : lambda of Eq. (10).
    gamma : the discount factor.
    mirror_steps : steps of mirror descent per epoch.
    episodes_per_epoch : the least number of episodes an epoch collects.
    epoch_growth : the least growth of the data an epoch collects, as a fraction of what there is;
        0.05 plans anew whenever there are 5% more transitions.
    method, tolerance, max_rank : how the world model is solved, see `WorldModel`; auto keeps the
        time of a plan bounded.
    prior : the action value of what was never tried.
    seed : seeds every random draw, those of the environment included.

    Attributes
    ----------
    num_timesteps : environment steps taken so far.
    episode_returns : the return of each finished episode.
    kernel_ : the kernel in use, None before the first epoch has chosen it.
    model_ : the world model, None before the first epoch.

    Examples
    --------
    >>> agent = POWR("FrozenLake-v1", seed=0).learn(100)
    >>> action, _ = agent.predict(0)
    >>> agent.action_probabilities([0, 1]).shape
    (2, 4)
    """

    kernel = KernelSetting()
    step_size = Setting(check_positive)
    regularization = Setting(check_positive)
    gamma = Setting(check_gamma)
    mirror_steps = Setting(check_count)
    episodes_per_epoch = Setting(check_count)
    epoch_growth = Setting(check_not_negative)
    method = Setting(check_method)
    tolerance = Setting(check_not_negative)
    max_rank = Setting(check_count)
    prior = Setting(check_number)

    def __init__(
        self,
        env: gymnasium.Env | str,
        *,
        kernel: Kernel | None = None,
        step_size: float = 1.0,
        regularization: float = 1e-6,
        gamma: float = 0.99,
        mirror_steps: int = 10,
        episodes_per_epoch: int = 1,
        epoch_growth: float = 0.05,
        method: str = "auto",
        tolerance: float = TOLERANCE,
        max_rank: int = 1000,
        prior: float = 0.0,
        seed: int = 0,
    ):
        env = make_env(env)
        self._seed = check_seed(seed)
        training, prediction = np.random.SeedSequence(self._seed).spawn(2)
        self._collector = Collector(env, np.random.default_rng(training))
        self._prediction_generator = np.random.default_rng(prediction)
        self.n_actions = int(self._collector.actions.n)
        self.kernel = kernel
        self.step_size = step_size
        self.regularization = regularization
        self.gamma = gamma
        self.mirror_steps = mirror_steps
        self.episodes_per_epoch = episodes_per_epoch
        self.epoch_growth = epoch_growth
        self.method = method
        self.tolerance = tolerance
        self.max_rank = max_rank
        self.prior = prior
        self.kernel_: Kernel | None = None
        self._history: list[Columns] = []
        self._model: WorldModel | None = None
        self._plan = first_plan(self.n_actions)
        self._warned = False

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def env(self) -> gymnasium.Env:
        return self._collector.env

    @property
    def num_timesteps(self) -> int:
        return self._collector.num_timesteps

    @property
    def episode_returns(self) -> list[float]:
        return self._collector.episode_returns

    @property
    def model_(self) -> WorldModel | None:
        if self._model is None and self._history:
            self._model = self._fitted()
        return self._model

    def learn(
        self, total_timesteps: int, callback: Callback | None = None, progress_bar: bool = False
    ) -> POWR:
        """Take `total_timesteps` more steps in the environment and learn from them.

        An episode that the last step leaves open is taken up by the next call, so that two calls
        equal one; where the environment was used in between, it is played again from its seed.
        `callback(agent)` is called after every step; a true answer ends the call.
        """
        check_count(total_timesteps, "total_timesteps")
        self._collector.take_up()
        goal = self.num_timesteps + total_timesteps
        with Progress(self, total_timesteps, enabled=progress_bar) as progress:
            going_on = True
            while going_on and self.num_timesteps < goal:
                self._plan_if_due()
                going_on = self._step(callback, progress)
            self._plan_if_due()
        self._collector.leave()
        if not self.episode_returns:
            warnings.warn(
                f"no episode ended within {self.num_timesteps} timesteps, so nothing was learned: "
                "train longer, or give the environment a time limit (max_episode_steps)",
                stacklevel=2,
            )
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray | np.integer, Any]:
        """The action for one observation, or those for a batch: sampled, or the likeliest.

        The signature is stable-baselines3's, so that its `evaluate_policy` takes this agent. There
        is no memory: `state` is handed back as it came, `episode_start` changes nothing.
        """
        states, single = self._collector.observations.states(observation)
        if deterministic:
            actions = self._plan.policy.greedy(states)
        else:
            draws = self._prediction_generator.random(len(states))
            actions = self._plan.policy.sample(states, draws)
        actions = actions + int(self._collector.actions.start)
        return (actions[0] if single else actions), state

    def action_probabilities(self, observations: Any) -> NDArray:
        """The policy at a batch of observations, (n, n_actions)."""
        return self._plan.policy.probabilities(self._collector.observations.states(observations)[0])

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

        `kernel` is needed only where the agent was trained with one that is not of `powr.kernels`.
        """
        from powr.checkpoint import load

        return load(path, env, kernel)

    def _step(self, callback: Callback | None, progress: Progress) -> bool:
        """One step in the environment; False if the callback says stop."""
        try:
            self._collector.step(self._plan.policy)
            progress.step()
            return callback is None or not self._collector.lend(callback, self)
        except BaseException:
            self._collector.take_back()
            raise

    def _plan_if_due(self) -> None:
        collector = self._collector
        if collector.episode is not None or len(collector.finished) < self.episodes_per_epoch:
            return
        fitted = 0 if self.model_ is None else self.model_.n_transitions_
        if self.num_timesteps - fitted >= self.epoch_growth * fitted:
            self._plan_epoch()

    def _plan_epoch(self) -> None:
        """One epoch; where it is interrupted, the policy is as it was and plans it later."""
        columns = joined(self._collector.finished)
        # Until the plan is made there is no model: after an interrupt it is fitted again.
        model, self._model = self.model_ or self._new_model(columns[0]), None
        model.partial_fit(*columns)
        plan = summed_plan(
            model,
            self._plan,
            steps=self.mirror_steps,
            step_size=self.step_size,
            gamma=self.gamma,
        )
        self._warn_of_guard(plan)
        # All that takes time is done, so that an interrupt finds the old policy or the new one.
        self._model, self._plan = model, plan
        self._history, self._collector.finished = [*self._history, columns], []

    def _warn_of_guard(self, plan: Plan) -> None:
        if plan.regularization > self.regularization and not self._warned:
            self._warned = True
            warnings.warn(
                f"the world model gave action values beyond what the rewards allow, so it was "
                f"solved with the regularization {plan.regularization:g} instead of "
                f"{self.regularization:g}: a rougher kernel (Exponential), another bandwidth or a "
                "stronger regularization may suit the task better",
                stacklevel=4,
            )

    def _fitted(self) -> WorldModel:
        """The world model that knows the epochs planned so far."""
        model = self._new_model(self._history[0][0])
        for columns in self._history:
            model.partial_fit(*columns)
        return model

    def _new_model(self, states: NDArray) -> WorldModel:
        space = self.env.observation_space
        self.kernel_ = self.kernel or self.kernel_ or default_kernel(space, states)
        return WorldModel(
            self.kernel_,
            self.n_actions,
            regularization=self.regularization,
            method=self.method,
            tolerance=self.tolerance,
            max_rank=self.max_rank,
            prior=self.prior,
        )


def joined(chunks: list[Columns]) -> Columns:
    """One set of transitions out of several."""
    states, actions, rewards, next_states, terminated = map(
        np.concatenate, zip(*chunks, strict=True)
    )
    return states, actions, rewards, next_states, terminated
