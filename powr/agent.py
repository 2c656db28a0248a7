"""POWR, the paper's algorithm: data collection alternates with Algorithm 1 (Section 6).

`Agent` plays episodes with its policy and keeps the data. `POWR` learns from them: each epoch fits
the world model to all data (`world_model.py`) and takes steps of mirror descent in it
(`mirror_descent.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import ArrayLike, NDArray

from powr import health, storage
from powr.data import History, StateIndex, interleaved
from powr.environment import Interface, env_or_spaces, limit_of, refuse_reset
from powr.kernels import Dirac, Exponential, Kernel, check_kernel, expand
from powr.mirror_descent import Policy, make_policy, mirror_descent, uniform_policy
from powr.validation import (
    check_count,
    check_flag,
    check_gamma,
    check_method,
    check_numeric,
    check_positive,
    check_seed,
    check_transitions,
    refuse_env_arguments,
)
from powr.world_model import WorldModel

Callback = Callable[[Any], Any]

# Timesteps of one episode without a time limit after which an epoch follows within the episode.
LONGEST_WAIT = 1000

# Default bandwidths are this fraction of the range of a dimension. Bounds beyond the largest stand
# for "unbounded", as the largest single-precision number does.
_FRACTION_OF_RANGE = 1 / 3
_LARGEST_BOUND = 1e30


class Agent:
    """What POWR and its extension share: an environment, its data, and a policy that acts.

    While `learn` runs, the environment is the agent's.

    Parameters
    ----------
    env : gymnasium.Env or str
    seed : int or None
    """

    n_plans_: int
    kernel: Kernel | None

    def __init__(self, env: gymnasium.Env | str, seed: int | None):
        self.seed = check_seed(seed)
        self._interface = Interface(env)
        self.n_actions = self._interface.n_actions
        self.data = History(self._interface.observations.shape)
        self._warned: set[str] = set()
        training, prediction = np.random.SeedSequence(self.seed).spawn(2)
        self._generator = np.random.default_rng(training)
        self._prediction_generator = np.random.default_rng(prediction)

    env = property(lambda self: self._interface.env)
    observation_space = property(lambda self: self.env.observation_space)
    action_space = property(lambda self: self.env.action_space)
    num_timesteps = property(lambda self: self.data.size)

    @property
    def episode_returns(self) -> list[float]:
        """The return of each finished episode."""
        rewards = self.data.columns()[2]
        return [float(rewards[start:stop].sum()) for start, stop in self.data.episodes()]

    def __repr__(self) -> str:
        name = self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__
        return f"<{type(self).__name__} on {name}, {self.num_timesteps:,} timesteps>"

    def learn(
        self, total_timesteps: int, callback: Callback | None = None, progress_bar: bool = False
    ) -> Self:
        """Take `total_timesteps` more steps in the environment and learn from them.

        Each call starts a new episode; an episode left open at its end is data like any other.
        After an interrupt, such as Ctrl-C, all whole transitions are kept, and the policy is the
        one before or after an update.

        Parameters
        ----------
        total_timesteps : int
        callback : callable, default=None
            Called with the agent after every step; training stops at once if it returns False.
        progress_bar : bool, default=False
            Needs tqdm.
        """
        self._check_settings()
        goal = self.num_timesteps + check_count(total_timesteps, "total_timesteps")
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of the agent, got {callback!r}: give one such as "
                "`lambda agent: agent.num_timesteps < 1000`, which stops training by returning "
                "False. Callbacks of stable-baselines3 need one of its own models"
            )
        self._warn(health.shifting_scales(self.env))
        bar = _progress_bar(goal - self.num_timesteps) if progress_bar else None
        state, is_stopped = None, False
        while self.num_timesteps < goal and not is_stopped:
            if state is None:
                state = self._interface.reset(seed=int(self._generator.integers(2**31)))
                self.data.begin_episode()
            action = self._behaviour().act(state, self._generator.random())
            next_state, reward, terminated, truncated = self._interface.step(action)
            ended = terminated or truncated
            transition = (state, action, reward, next_state, terminated)
            self.data.append(transition, ended)
            self._observe(transition, ended)
            state = None if ended else next_state
            if bar is not None:
                if ended:
                    last = self.data.columns(self.data.starts[-1])[2].sum()
                    bar.set_postfix_str(f"return {last:.4g}, plans {self.n_plans_}", refresh=False)
                bar.update()
            is_stopped = callback is not None and callback(self) is False
        if bar is not None:
            bar.close()
        if not is_stopped:
            self._finish()
        self._warn(self.health_)
        return self

    def fit(
        self,
        states: Any,
        actions: ArrayLike,
        rewards: ArrayLike,
        next_states: Any,
        terminated: ArrayLike,
    ) -> Self:
        """Learn from these logged transitions alone; no environment is needed.

        What was learned before is dropped. `learn` may follow where there is an environment.

        Parameters
        ----------
        states, next_states : batches of n observations
        actions : (n,) integers
        rewards : (n,) floats
        terminated : (n,) bool
            Whether the environment terminated; truncation by a time limit does not count.
        """
        self._check_settings()
        states, next_states = self._states(states)[0], self._states(next_states)[0]
        actions = check_numeric(actions, "actions") - self._interface.first_action
        columns = check_transitions(
            states, actions, rewards, next_states, terminated, n_actions=self.n_actions
        )
        data = History(self.data.state_shape)
        data.extend(columns, columns[4], [])  # episodes are unknown
        before = dict(vars(self))
        try:
            self._learn_logged(data)
            faults = self.health_
        except BaseException:
            vars(self).update(before)
            raise
        self._warn(faults)
        return self

    def _warn(self, faults: dict[str, str]) -> None:
        """Warn the caller of `learn` or `fit`, once for each subject."""
        for subject, message in faults.items():
            if subject not in self._warned:
                self._warned.add(subject)
                warnings.warn(message, stacklevel=3)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[NDArray | np.integer, Any]:
        """Actions for one observation or a batch, with the signature of stable-baselines3.

        Parameters
        ----------
        observation : one observation, or a batch
            A batch is a list or an array of observations or, for `Tuple` and `Dict` spaces, an
            array per part.
        state, episode_start
            Ignored, since there is no memory; `state` is returned.
        deterministic : bool, default=False
            Whether to take the most probable action instead of sampling.
        """
        states, single = self._states(observation)
        if deterministic:
            actions = self._target_policy().greedy(states)
        else:
            draws = self._prediction_generator.random(len(states))
            actions = self._target_policy().sample(states, draws)
        actions = actions + self._interface.first_action
        return (actions[0] if single else actions), state

    def action_probabilities(self, observations: Any) -> NDArray:
        """The policy at a batch of observations, (n, n_actions)."""
        return self._target_policy().probabilities(self._states(observations)[0])

    def action_values(self, observations: Any) -> NDArray:
        """Estimated action values of that policy at a batch of observations, (n, n_actions)."""
        return self._action_values(self._states(observations)[0])

    def save(self, path: str | Path) -> None:
        """Write settings, data, policy and random state to one `.npz` file."""
        storage.save(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: gymnasium.Env | str | None = None,
        *,
        kernel: Kernel | None = None,
    ) -> Self:
        """Read an agent, which continues as the saved one would.

        Parameters
        ----------
        path : str or Path
        env : gymnasium.Env or str, default=None
            Default: a new environment with the id and arguments of the one of training.
        kernel : Kernel, default=None
            Needed only if the agent was trained with a kernel that is not in `powr.kernels`.
        """
        return storage.load(cls, path, env, kernel)

    def _states(self, observations: Any) -> tuple[NDArray, bool]:
        refuse_reset(observations, self.observation_space)
        return self._interface.observations.states(observations)

    # -- what a subclass defines ------------------------------------------------------------------

    @property
    def health_(self) -> dict[str, str]:
        """What is wrong with the agent or its task, with a remedy."""
        raise NotImplementedError

    def _check_settings(self) -> None:
        raise NotImplementedError

    def _observe(self, transition: tuple, ended: bool) -> None:
        """Learn from a transition that was just stored, the last of its episode or not."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Learn from what is left at the end of `learn`."""

    def _learn_logged(self, data: History) -> None:
        """Forget what was learned, and learn from these data alone."""
        raise NotImplementedError

    def _behaviour(self) -> Policy:
        """The policy that collects data."""
        raise NotImplementedError

    def _target_policy(self) -> Policy:
        """The policy that `predict` shows."""
        return self._behaviour()

    def _action_values(self, states: NDArray) -> NDArray:
        raise NotImplementedError

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """What to save besides settings, data and random state: JSON data, and arrays."""
        raise NotImplementedError

    def _restore(self, state: dict[str, Any], arrays: dict[str, NDArray]) -> None:
        """The inverse of `_state`, once settings and data are in place."""
        raise NotImplementedError


class Plan(NamedTuple):
    """The outcome of an epoch: a policy, and its exponent over the model's states."""

    policy: Policy
    coefficients: NDArray  # C of Algorithm 1, summed over epochs, (states, actions)
    exponents: NDArray  # H C
    epochs: tuple[int, ...] = ()  # number of transitions at the end of each epoch


class POWR(Agent):
    """Policy mirror descent with operator world models, the paper's algorithm.

    Each epoch adds its episodes to the world model, Eq. (10), and takes steps of mirror descent
    with the closed-form action values of Prop. 3. The policy is the softmax of the step size times
    the sum of action values, Eq. (15). Unvisited pairs have the value 0.

    An epoch follows its last episode. `learn` ends with an epoch, too, unless all its transitions
    are learned or a callback stopped it; and an episode without a time limit, which may never end,
    has one every 1,000 timesteps. `fit` is Algorithm 1 on a fixed data set: `mirror_steps` steps
    from the uniform policy.

    The paper gives no settings. The defaults are those of the authors' code of June 2024.

    Parameters
    ----------
    env : gymnasium.Env or str
        An environment or the id of one, with `Discrete` actions and observations that are a `Box`
        (flattened) or finite: `Discrete`, `MultiDiscrete`, `MultiBinary`, or a `Tuple` or `Dict`
        of such.
    observation_space, action_space : Space
        In place of `env`, to learn from logged data by `fit`.
    kernel : Kernel, default=None
        The state kernel. Default: `Dirac` for finite observations, `Exponential` with a third of
        the range of each dimension for a box.
    gamma : float, default=0.99
        The discount factor.
    step_size : float, default=0.1
        eta of Eq. (14).
    mirror_steps : int, default=1
        Steps of mirror descent per epoch.
    regularization : float, default=1e-6
        lambda of Eq. (10).
    episodes_per_epoch : int, default=1
    restart : bool, default=False
        Whether each epoch starts from the uniform policy (Algorithm 1 as printed) instead of
        adding to the exponent of the last one (the authors' code).
    method : {"auto", "exact", "nystrom"}, default="auto"
        How Prop. 3 is solved, see `WorldModel`.
    max_rank : int, default=1000
        Distinct pairs up to which "auto" is exact, and the largest rank of Nystrom; see
        `WorldModel` for more than six actions.
    seed : int or None, default=0
        Seeds every random draw, those of the environment included. None draws a seed.

    Attributes
    ----------
    num_timesteps : int
    episode_returns : list of float
    n_plans_ : int
        Epochs so far.
    model_ : WorldModel or None
        The world model of the last epoch.
    n_overshoots_, worst_overshoot_ : int, float
        Epochs whose action values left the range that the rewards allow by more than a quarter of
        it, and the largest such excess as a share of the range.
    health_ : dict of str
        What is wrong with the agent or its task, with a remedy. `learn` and `fit` warn of it once.

    Examples
    --------
    >>> agent = POWR("FrozenLake-v1", seed=0).learn(100)
    >>> action, _ = agent.predict(0)
    >>> agent.action_probabilities([0, 1]).shape
    (2, 4)
    """

    @refuse_env_arguments
    def __init__(
        self,
        env: gymnasium.Env | str | None = None,
        *,
        observation_space: Space | None = None,
        action_space: Space | None = None,
        kernel: Kernel | None = None,
        gamma: float = 0.99,
        step_size: float = 0.1,
        mirror_steps: int = 1,
        regularization: float = 1e-6,
        episodes_per_epoch: int = 1,
        restart: bool = False,
        method: str = "auto",
        max_rank: int = 1000,
        seed: int | None = 0,
    ):
        super().__init__(env_or_spaces(env, observation_space, action_space), seed)
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.mirror_steps = mirror_steps
        self.regularization = regularization
        self.episodes_per_epoch = episodes_per_epoch
        self.restart = restart
        self.method = method
        self.max_rank = max_rank
        self._check_settings()
        self._begin_anew(self.data)

    def _begin_anew(self, data: History) -> None:
        """These data, none of which are learned from, and the uniform policy."""
        nothing = np.zeros((0, self.n_actions))
        self._plan = Plan(uniform_policy(self.n_actions), nothing, nothing)
        self._model: WorldModel | None = None
        self.n_overshoots_, self.worst_overshoot_ = 0, 0.0
        self.data = data

    n_plans_ = property(lambda self: len(self._plan.epochs))

    @property
    def model_(self) -> WorldModel | None:
        if self._model is None and self._plan.epochs:  # after an interrupt, or a load
            starts = (0, *self._plan.epochs[:-1])
            model = self._new_model(self.data.columns(0, self._plan.epochs[0])[0])
            for start, stop in zip(starts, self._plan.epochs, strict=True):
                model.partial_fit(*self.data.columns(start, stop))
            self._model = model
        return self._model

    def _observe(self, transition: tuple, ended: bool) -> None:
        if ended:
            is_due = self.data.ended[self._n_learned :].sum() >= self.episodes_per_epoch
        else:
            since = max(self._n_learned, self.data.starts[-1])
            is_due = self.data.size - since >= LONGEST_WAIT and limit_of(self.env) is None
        if is_due:
            self._improve_policy()

    def _learn_logged(self, data: History) -> None:
        self._begin_anew(data)
        self._improve_policy()

    def _finish(self) -> None:
        if self._n_learned < self.num_timesteps:
            self._improve_policy()

    @property
    def health_(self) -> dict[str, str]:
        returns, overshoot = self.episode_returns, self.worst_overshoot_
        found = health.findings(self.num_timesteps, self.n_plans_, returns, overshoot)
        return {**health.shifting_scales(self.env), **found}

    @property
    def _n_learned(self) -> int:
        """The number of transitions at the end of the last epoch."""
        return self._plan.epochs[-1] if self._plan.epochs else 0

    def _improve_policy(self) -> None:
        """One epoch: the world model of all data, then the mirror descent of Algorithm 1."""
        new = self.data.columns(self._n_learned)
        # Until the epoch is over there is no model: an interrupt may leave this one half updated.
        model, self._model = self.model_ or self._new_model(new[0]), None
        model.partial_fit(*new)  # Eq. (10)

        known = len(self._plan.coefficients)
        if self.restart:
            exponents = np.zeros((len(model.states_), self.n_actions))  # C_0 = 0
        else:
            new_states = model.states_[known:]
            exponents = np.vstack([self._plan.exponents, self._plan.policy(new_states)])
        steps, eta = self.mirror_steps, self.step_size
        descent = mirror_descent(model, exponents, steps=steps, step_size=eta, gamma=self.gamma)
        C = descent.coefficients
        if not self.restart:
            C[:known] += self._plan.coefficients  # Eq. (15): the sum over epochs continues
        self.n_overshoots_ += int(descent.overshoot > health.OVERSHOOT)
        self.worst_overshoot_ = max(self.worst_overshoot_, descent.overshoot)
        # A single assignment, so that an interrupt finds the old policy or the new one.
        self._plan = Plan(
            make_policy(model.function(C)),
            C,
            exponents + descent.exponents,
            (*self._plan.epochs, self.data.size),
        )
        self._model = model

    def _behaviour(self) -> Policy:
        return self._plan.policy

    def _action_values(self, states: NDArray) -> NDArray:
        if self.model_ is None:
            return np.zeros((len(states), self.n_actions))
        return self.model_.action_values(self._plan.policy.probabilities, self.gamma)(states)

    def _new_model(self, states: NDArray) -> WorldModel:
        return WorldModel(
            self._kernel(states),
            self.n_actions,
            regularization=self.regularization,
            method=self.method,
            max_rank=self.max_rank,
        )

    def _kernel(self, states: NDArray) -> Kernel:
        """The kernel of the settings, or the default for the states of the first epoch."""
        return self.kernel or default_kernel(self.observation_space, states)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        # Recompute what a loaded agent has to, so that both continue with the same rounding.
        if (model := self.model_) is not None:
            model.forget_factors()
            self._plan = self._plan._replace(exponents=self._plan.policy(model.states_))
        overshoots = [self.n_overshoots_, self.worst_overshoot_]
        record = {"epochs": list(self._plan.epochs), "overshoots": overshoots}
        return record, {"coefficients": self._plan.coefficients}

    def _restore(self, state: dict[str, Any], arrays: dict[str, NDArray]) -> None:
        epochs = tuple(int(size) for size in state["epochs"])
        if sorted({0, *epochs}) != [0, *epochs] or (epochs and epochs[-1] > self.data.size):
            raise ValueError(f"its epochs {epochs} do not fit {self.data.size} transitions")
        self.n_overshoots_, self.worst_overshoot_ = state["overshoots"]
        if not epochs:
            return
        C = arrays["coefficients"]
        states, _, _, next_states, _ = self.data.columns(0, epochs[-1])
        index = StateIndex(self.data.state_shape)
        index.number(interleaved(states, next_states))
        if C.shape != (len(index), self.n_actions):
            raise ValueError(f"its coefficients of shape {C.shape} do not fit {len(index)} states")
        kernel = self._kernel(states[: epochs[0]])
        policy = make_policy(expand(kernel, index, C))
        self._plan = Plan(policy, C, policy(index.states), epochs)

    def _check_settings(self) -> None:
        if self.kernel is not None:
            check_kernel(self.kernel, self.data.state_shape)
        check_gamma(self.gamma)
        check_positive(self.step_size, "step_size")
        check_count(self.mirror_steps, "mirror_steps")
        check_positive(self.regularization, "regularization")
        check_count(self.episodes_per_epoch, "episodes_per_epoch")
        check_flag(self.restart, "restart")
        check_method(self.method)
        check_count(self.max_rank, "max_rank")


def default_kernel(space: Space, states: NDArray) -> Kernel:
    """Dirac on a finite space, else exponential with bandwidths from bounds or from the data."""
    if not isinstance(space, Box):
        return Dirac()
    low, high = (bound.astype(float).ravel() for bound in (space.low, space.high))
    bounded = (low > -_LARGEST_BOUND) & (high < _LARGEST_BOUND)
    spread = np.where(bounded, high - np.where(bounded, low, 0.0), np.ptp(states, axis=0))
    return Exponential(np.where(spread > 0, spread * _FRACTION_OF_RANGE, 1.0))


def _progress_bar(total_timesteps: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError("progress_bar=True needs tqdm: pip install tqdm") from error
    form = "{percentage:3.0f}%|{bar}| {n_fmt} [{remaining}]{postfix}"
    return tqdm(total=total_timesteps, unit="step", dynamic_ncols=True, bar_format=form)
