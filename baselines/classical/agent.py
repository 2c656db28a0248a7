"""The base class of all classical baselines (seeds, training loop, policy), and random play."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Tuple
from numpy.typing import ArrayLike, NDArray


class Step(NamedTuple):
    """One transition; states are encoded by `_encode`, actions are numbered from 0."""

    state: Any
    action: int
    reward: float
    next_state: Any
    terminated: bool
    truncated: bool


class ClassicalAgent(ABC):
    """An agent that is epsilon-greedy with respect to its action values.

    A subclass implements `_encode`, `_values` and `_update`. In all of them the value after a
    terminated step is 0, and a truncated step bootstraps from its next state.
    """

    epsilon = 0.0

    def __init__(self, env: gymnasium.Env, *, seed: int) -> None:
        if not isinstance(env.action_space, Discrete):
            raise ValueError(
                f"{type(self).__name__} needs finitely many actions, but the action space is "
                f"{env.action_space}: choose an environment whose actions are Discrete"
            )
        self.env = env
        self.rng = np.random.default_rng(seed)
        self.n_actions = int(env.action_space.n)
        self.num_timesteps = 0
        self._first_action = int(env.action_space.start)
        self._state: Any = None  # of the current episode, None between episodes

    def learn(
        self, timesteps: int, callback: Callable[[ClassicalAgent], bool | None] | None = None
    ) -> Self:
        """Train for `timesteps` more steps; the callback can stop training by returning False."""
        for _ in range(timesteps):
            self._step()
            if callback is not None and callback(self) is False:
                break
        return self

    def _step(self) -> None:
        if self._state is None:
            observation, _ = self.env.reset(seed=int(self.rng.integers(2**31)))
            self._state = self._encode(observation)
        action = self._act(self._state)
        observation, reward, terminated, truncated, _ = self.env.step(self._first_action + action)
        step = Step(
            self._state, action, float(reward), self._encode(observation), terminated, truncated
        )
        self._update(step)
        self._state = None if terminated or truncated else step.next_state
        self.num_timesteps += 1

    def _act(self, state: Any) -> int:
        """An action sampled from the policy of `action_probabilities`."""
        if self.epsilon and self.rng.random() < self.epsilon:
            return int(self.rng.integers(self.n_actions))
        values = self._values(np.asarray(state)[None])[0]
        best = np.flatnonzero(values == values.max())
        return int(best[0] if len(best) == 1 else self.rng.choice(best))

    def predict(
        self, observations: ArrayLike, deterministic: bool = True
    ) -> tuple[NDArray[np.integer], None]:
        """The greedy action for one observation or a batch; sampled if not deterministic."""
        if deterministic:
            actions = self._shown_values(self._states(observations)).argmax(axis=1)
        else:
            cumulative = self.action_probabilities(observations).cumsum(axis=1)
            drawn = self.rng.random((len(cumulative), 1)) * cumulative[:, -1:]
            actions = (cumulative <= drawn).sum(axis=1)
        shape = np.shape(observations)[: np.ndim(observations) - len(self._shape)]
        return self._first_action + actions.reshape(shape), None

    def action_probabilities(self, observations: ArrayLike) -> NDArray:
        """The policy that collects the data, (n, n_actions); ties are split equally."""
        values = self.action_values(observations)
        best = values == values.max(axis=1, keepdims=True)
        greedy = best / best.sum(axis=1, keepdims=True)
        return (1 - self.epsilon) * greedy + self.epsilon / self.n_actions

    def action_values(self, observations: ArrayLike) -> NDArray:
        """The current estimates, (n, n_actions)."""
        return self._values(self._states(observations))

    def _states(self, observations: ArrayLike) -> NDArray:
        """One observation or a batch as a batch of states."""
        return self._encode(np.asarray(observations).reshape(-1, *self._shape))

    def _shown_values(self, states: NDArray) -> NDArray:
        """The values whose greedy policy `predict` uses; by default those of training."""
        return self._values(states)

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of one observation as an array; for a tuple of numbers, its length."""
        space = self.env.observation_space
        return (len(space),) if isinstance(space, Tuple) else space.shape

    @abstractmethod
    def _encode(self, observations: ArrayLike) -> NDArray:
        """One observation or a batch, encoded as the agent's states."""

    @abstractmethod
    def _values(self, states: NDArray) -> NDArray:
        """The action values of a batch of states, (n, n_actions)."""

    @abstractmethod
    def _update(self, step: Step) -> None:
        """Learn from the step just taken."""


class RandomPlay(ClassicalAgent):
    """Takes every action with the same probability, and learns nothing.

    `predict` always samples, since no fixed action represents random play.
    """

    def predict(
        self, observations: ArrayLike, deterministic: bool = False
    ) -> tuple[NDArray[np.integer], None]:
        return super().predict(observations, deterministic=False)

    def _encode(self, observations: ArrayLike) -> NDArray:
        return np.asarray(observations)

    def _values(self, states: NDArray) -> NDArray:
        return np.zeros((len(states), self.n_actions))

    def _update(self, step: Step) -> None:
        pass


def check_constant(name: str, value: float, low: float = -np.inf, high: float = np.inf) -> float:
    """Return the value if it is finite and lies in [low, high]."""
    if not (low <= value <= high and np.isfinite(value)):
        raise ValueError(f"{name} is {value}: give a finite number in [{low:g}, {high:g}]")
    return value


def check_gamma(gamma: float) -> float:
    """Return the discount factor if it lies in [0, 1)."""
    if not 0 <= gamma < 1:
        raise ValueError(f"gamma is {gamma}: give a discount factor in [0, 1)")
    return gamma
