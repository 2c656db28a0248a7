"""POWR, the agent: episodes, world model and mirror descent in alternation.

One epoch collects episodes with the current policy, adds them to the world model, Eq. (10), and
takes a few steps of mirror descent in it, Algorithm 1. The policy is the softmax of the step size
times the sum of all action-value estimates so far, Eq. (15), kept as one weight matrix.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import ArrayLike, NDArray

from powr.kernels import Dirac, Kernel
from powr.mirror_descent import mirror_descent, softmax
from powr.progress import Progress
from powr.spaces import check_kernel, check_spaces, default_kernel, make_env
from powr.validation import (
    check_count,
    check_gamma,
    check_method,
    check_not_negative,
    check_number,
    check_positive,
    check_states,
)
from powr.world_model import StateFunction, WorldModel

Callback = Callable[["POWR"], Any]


@dataclass
class Episode:
    """An episode under way, with what is needed to take it back or to play it again."""

    seed: int
    first_timestep: int
    generator_state: dict
    observations: list
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False


class POWR:
    """Policy mirror descent with an operator world model.

    Parameters
    ----------
    env : a gymnasium environment or the id of one, with `Discrete` actions and observations that
        are `Discrete` or a one-dimensional `Box`.
    kernel : the state kernel. Default: `Dirac` for discrete observations; `Exponential` for a box,
        with a third of each dimension's range as bandwidth.
    step_size : eta of Eq. (14). Larger steps turn greedy sooner.
    regularization : lambda of Eq. (10).
    gamma : the discount factor.
    mirror_steps : steps of mirror descent an epoch.
    episodes_per_epoch : the least number of episodes an epoch collects.
    epoch_growth : the least growth of the data an epoch collects, as a fraction of what there is;
        0.05 plans anew whenever there are 5% more transitions.
    method : how the world model is solved: exact, low_rank or subset (see `WorldModel`); auto is
        exact for the Dirac kernel and subset for others, which keeps the time of a plan bounded.
    tolerance, max_rank : of the low-rank or subset world model; unused for the Dirac kernel.
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
        tolerance: float = 1e-2,
        max_rank: int = 1000,
        prior: float = 0.0,
        seed: int = 0,
    ):
        self.env = make_env(env)
        check_spaces(self.env)
        self.n_actions = int(self.env.action_space.n)
        self._first_action = int(self.env.action_space.start)
        self._discrete = isinstance(self.env.observation_space, Discrete)
        if kernel is not None:
            check_kernel(kernel, self.env.observation_space)
        self.kernel = kernel
        self.step_size = check_positive(step_size, "step_size")
        self.regularization = check_positive(regularization, "regularization")
        self.gamma = check_gamma(gamma)
        self.mirror_steps = check_count(mirror_steps, "mirror_steps")
        self.episodes_per_epoch = check_count(episodes_per_epoch, "episodes_per_epoch")
        self.epoch_growth = check_not_negative(epoch_growth, "epoch_growth")
        self.method = check_method(method)
        self.tolerance = check_not_negative(tolerance, "tolerance")
        self.max_rank = check_count(max_rank, "max_rank")
        self.prior = check_number(prior, "prior")
        self.seed = check_seed(seed)

        self.num_timesteps = 0
        self.episode_returns: list[float] = []
        self.kernel_: Kernel | None = None
        self._history: list[tuple[NDArray, ...]] = []
        self._collected: list[tuple[NDArray, ...]] = []
        self._episode: Episode | None = None
        training, prediction = np.random.SeedSequence(self.seed).spawn(2)
        self._generator = np.random.default_rng(training)
        self._prediction_generator = np.random.default_rng(prediction)
        nothing = np.zeros((0, self.n_actions))
        self._set_policy(None, nothing, nothing)

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
        equal one. `callback(agent)` is called after every step; a true answer ends the call.
        """
        goal = self.num_timesteps + check_count(total_timesteps, "total_timesteps")
        with Progress(self, total_timesteps, enabled=progress_bar) as progress:
            going_on = True
            while going_on and self.num_timesteps < goal:
                self._plan_if_due()
                try:
                    going_on = self._collect(goal, callback, progress)
                except BaseException:
                    self._take_back_episode()
                    raise
            self._plan_if_due()
        if not self.episode_returns:
            warnings.warn(
                f"no episode ended within {self.num_timesteps} timesteps, so nothing was learned: "
                "train longer, or give the environment a time limit (max_episode_steps)",
                stacklevel=2,
            )
        return self

    def predict(
        self, observation: ArrayLike, deterministic: bool = True
    ) -> tuple[NDArray | np.integer, None]:
        """The action for one observation, or those for a batch: likeliest, or sampled.

        The second value is always None; it is there for stable-baselines3's signature.
        """
        states, single = self._as_states(observation)
        exponents = self._exponents(states)
        if deterministic:
            actions = exponents.argmax(axis=1)
        else:
            cumulative = softmax(exponents).cumsum(axis=1)
            draws = self._prediction_generator.random((len(states), 1))
            actions = (draws >= cumulative[:, :-1]).sum(axis=1)
        actions = actions + self._first_action
        return (actions[0] if single else actions), None

    def action_probabilities(self, observations: ArrayLike) -> NDArray:
        """The policy at a batch of observations, (n, n_actions)."""
        return softmax(self._exponents(self._as_states(observations)[0]))

    def save(self, path: str | Path) -> None:
        """Write the agent, its data and its random state to one `.npz` file."""
        from powr.checkpoint import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path, env: gymnasium.Env | str | None = None) -> POWR:
        """Read an agent; without `env` its environment is made anew by its id."""
        from powr.checkpoint import load

        return load(path, env)

    # -- collecting ---------------------------------------------------------------------------

    def _collect(self, goal: int, callback: Callback | None, progress: Progress) -> bool:
        """Play on to the end of the episode or to the goal; False if the callback says stop."""
        episode = self._episode or self._begin_episode()
        act, step, first_action = self._act, self.env.step, self._first_action
        observations, actions, rewards = episode.observations, episode.actions, episode.rewards
        observation = observations[-1]
        while self.num_timesteps < goal:
            action = act(observation)
            observation, reward, terminated, truncated, _ = step(first_action + action)
            self.num_timesteps += 1
            observation = self._checked(observation, reward)
            observations.append(observation)
            actions.append(action)
            rewards.append(float(reward))
            done = terminated or truncated
            if done:
                episode.terminated = bool(terminated)
                self._end_episode(episode)
            progress.step()
            if callback is not None and callback(self):
                return False
            if done:
                break
        return True

    def _begin_episode(self) -> Episode:
        state = self._generator.bit_generator.state
        seed = int(self._generator.integers(2**31))
        self._episode = Episode(seed, self.num_timesteps, state, [])
        observation, _ = self.env.reset(seed=seed)
        self._episode.observations.append(self._checked(observation, 0.0))
        return self._episode

    def _end_episode(self, episode: Episode) -> None:
        observations = np.array(episode.observations)
        terminated = np.zeros(len(episode.actions), bool)
        terminated[-1] = episode.terminated
        columns = (
            observations[:-1],
            np.array(episode.actions),
            np.array(episode.rewards),
            observations[1:],
            terminated,
        )
        self._collected.append(columns)
        self.episode_returns.append(float(sum(episode.rewards)))
        self._episode = None

    def _take_back_episode(self) -> None:
        """Forget the episode under way: the agent is as it was before its first step."""
        if self._episode is not None:
            self.num_timesteps = self._episode.first_timestep
            self._generator.bit_generator.state = self._episode.generator_state
            self._episode = None

    def _checked(self, observation: Any, reward: Any) -> int | NDArray:
        """The observation as a state; an environment that returns nonsense is stopped here."""
        if self._discrete:
            state, finite = int(observation), True
        else:
            state = np.asarray(observation, float)
            finite = np.isfinite(state).all()
        if not (finite and math.isfinite(reward)):
            raise ValueError(
                f"the environment returned observation {observation} with reward {reward} at "
                f"timestep {self.num_timesteps}: both must be finite. The episode was discarded "
                "and the agent is as it was before it"
            )
        return state

    # -- planning -----------------------------------------------------------------------------

    def _plan_if_due(self) -> None:
        if self._episode is not None or len(self._collected) < self.episodes_per_epoch:
            return
        fitted = 0 if self.model_ is None else self.model_.n_transitions_
        if self.num_timesteps - fitted >= self.epoch_growth * fitted:
            self._plan()

    def _plan(self) -> None:
        """One epoch; where it is interrupted, the policy is as it was and plans it later."""
        columns = tuple(np.concatenate(parts) for parts in zip(*self._collected, strict=True))
        # Until the plan is made there is no model: after an interrupt it is fitted again.
        model, self._model = self.model_ or self._new_model(columns[0]), None
        model.partial_fit(*columns)
        new_states = model.states_[len(self._coefficients) :]
        exponents = np.vstack([self._exponents_at_states, self._exponents(new_states)])
        gain, coefficients = mirror_descent(
            model,
            exponents,
            steps=self.mirror_steps,
            step_size=self.step_size,
            gamma=self.gamma,
        )
        coefficients[: len(self._coefficients)] += self._coefficients
        self._set_policy(model, coefficients, exponents + gain)
        self._history, self._collected = [*self._history, columns], []

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
            method=self._model_method(),
            tolerance=self.tolerance,
            max_rank=self.max_rank,
            prior=self.prior,
        )

    def _model_method(self) -> str:
        if self.method != "auto":
            return self.method
        return "exact" if isinstance(self.kernel_, Dirac) else "subset"

    # -- acting -------------------------------------------------------------------------------

    def _set_policy(
        self, model: WorldModel | None, coefficients: NDArray, exponents_at_states: NDArray
    ) -> None:
        """Set the policy's exponent: coefficients over the model's states, and its values there."""
        n_actions = self.n_actions
        if model is None:
            states, exponents = np.zeros(0), lambda states: np.zeros((len(states), n_actions))
        else:
            states, exponents = model.states_, model.function(coefficients)
        if self._discrete:
            act = self._tabular_sampler(states, exponents_at_states)
        else:
            act = self._sampler(exponents)
        # All that takes time is done, so that an interrupt finds the old policy or the new one.
        self._model, self._exponents, self._act = model, exponents, act
        self._coefficients, self._exponents_at_states = coefficients, exponents_at_states

    def _sampler(self, exponents: StateFunction) -> Callable[[NDArray], int]:
        draw, last = self._generator.random, self.n_actions - 1
        return lambda state: bisect_right(cumulative(exponents(state[None])), draw(), 0, last)

    def _tabular_sampler(self, states: NDArray, exponents: NDArray) -> Callable[[int], int]:
        """The policy at every state seen, looked up in one long list instead of evaluated."""
        draw, last = self._generator.random, self.n_actions - 1
        table = cumulative(exponents)
        start_of = dict(zip(states.tolist(), range(0, len(table), self.n_actions), strict=True))
        unseen = len(table)
        table += [k / self.n_actions for k in range(1, self.n_actions)]

        def sample(state: int) -> int:
            start = start_of.get(state, unseen)
            return bisect_right(table, draw(), start, start + last) - start

        return sample

    def _as_states(self, observations: ArrayLike) -> tuple[NDArray, bool]:
        """A batch of states, and whether a single observation was given."""
        shape = self.env.observation_space.shape
        observations = np.asarray(observations)
        single = observations.ndim == len(shape)
        states = observations[None] if single else observations
        return check_states(states, "observation", shape), single


def cumulative(exponents: NDArray) -> list[float]:
    """The policy's cumulative probabilities, row after row."""
    return softmax(exponents).cumsum(axis=1).ravel().tolist()


def check_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed must be a whole number, got {seed!r}")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    return int(seed)
