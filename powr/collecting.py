"""The environment's side of an agent: episodes played with a policy, step by step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.fingerprint import glance, layers_of, plain
from powr.policy import Policy
from powr.rollout import env_name
from powr.spaces import actions_of, observations_of
from powr.transitions import Columns
from powr.validation import LARGEST

T = TypeVar("T")

_USE_ANOTHER = ": use another environment there"

# What gymnasium's calls return.
_RESET = ("observation", "info")
_STEP = ("observation", "reward", "terminated", "truncated", "info")


@dataclass
class Episode:
    """An episode under way, with what is needed to take it back or to play it again."""

    seed: int
    first_timestep: int
    generator_state: dict[str, Any]
    observations: list
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False

    def columns(self) -> Columns:
        observations = np.array(self.observations)
        terminated = np.zeros(len(self.actions), bool)
        terminated[-1:] = self.terminated
        return (
            observations[:-1],
            np.array(self.actions, int),
            np.array(self.rewards, float),
            observations[1:],
            terminated,
        )


class Collector:
    """Plays episodes in an environment and keeps them.

    Every episode starts from a seed of its own, so that one under way can be played again.
    """

    def __init__(self, env: gymnasium.Env, generator: np.random.Generator):
        self.env = env
        self.generator = generator
        self.num_timesteps = 0
        self.episode_returns: list[float] = []
        self.finished: list[Columns] = []
        self.episode: Episode | None = None
        self._layers = list(layers_of(env))
        self._counts_steps = any("_elapsed_steps" in vars(layer) for layer in self._layers)
        self.last_transition: tuple = ()
        self._left: list[Any] | None = None
        self.observations = observations_of(env.observation_space)
        self.actions = actions_of(env)
        self._first_action = int(self.actions.start)

    def step(self, policy: Policy) -> bool:
        """One step of the episode under way, or the first of a new one; True where it ends one.

        A step that is interrupted is dropped, and the episode before it stands. An environment
        that fails loses the episode.
        """
        before = self.num_timesteps, len(self.finished)
        try:
            return self._step(policy)
        except Exception:
            self.take_back()
            raise
        except BaseException:
            self._drop_step(*before)
            raise

    def _step(self, policy: Policy) -> bool:
        episode = self.episode or self._begin()
        action = policy.act(episode.observations[-1], self.generator.random())
        answer = self.env.step(self._first_action + action)
        self.num_timesteps += 1
        observation, paid, terminated, truncated, _ = self._unpacked(answer, "step", _STEP)
        reward = number_of(paid)
        if reward is None:
            raise self._error(f"the reward {paid!r}", "it must be one number, and not in an array")
        episode.observations.append(self._checked(observation, reward))
        episode.actions.append(action)
        episode.rewards.append(reward)
        self.last_transition = (
            episode.observations[-2],
            action,
            reward,
            episode.observations[-1],
            bool(terminated),
        )
        if not (terminated or truncated):
            return False
        episode.terminated = bool(terminated)
        self.finished.append(episode.columns())
        self.episode_returns.append(float(sum(episode.rewards)))
        self.episode = None
        return True

    def transitions(self) -> Iterator[tuple[tuple, bool]]:
        """All transitions one by one, and whether each was the last of its episode."""
        for columns in self.finished:
            last = len(columns[1]) - 1
            for number, row in enumerate(zip(*map(rows_of, columns), strict=True)):
                yield row, number == last
        if self.episode is not None:
            for row in zip(*map(rows_of, self.episode.columns()), strict=True):
                yield row, False

    def leave(self) -> None:
        """Remember how the environment was left, so that `take_up` sees what others did to it."""
        self._left = self._fingerprint() if self.episode is not None else None

    def take_up(self) -> None:
        """Go on with the episode that was left open, also where the environment was used since.

        After an interrupt nobody knows where the environment stands.
        """
        left, self._left = self._left, None
        if left is None:
            self._recover("learn was interrupted")
        elif self._fingerprint() != left:
            self._recover("the environment was used between two calls of learn", _USE_ANOTHER)

    def lend(self, callback: Callable[[T], Any], agent: T) -> Any:
        """The answer of a callback, which may use the environment.

        This is called at every step: a time limit tells at once whether there was another, and
        only without one is plain data compared, of which large collections would take too long.
        """
        look = self._counters if self._counts_steps else self._glance
        before = look()
        answer = callback(agent)
        if self.episode is not None and look() != before:
            self._recover("the environment was used by the callback", _USE_ANOTHER)
        return answer

    def _counters(self) -> list[Any]:
        """What only steps and resets change: time limits and the random state."""
        elapsed = [vars(layer).get("_elapsed_steps") for layer in self._layers]
        return [*elapsed, plain(vars(self._layers[-1]).get("_np_random"))]

    def _glance(self) -> list[Any]:
        return [glance(vars(layer)) for layer in self._layers]

    def _fingerprint(self) -> list[Any]:
        """The plain data in the environment and its wrappers, which steps and resets change."""
        return [
            {name: plain(value) for name, value in vars(layer).items()} for layer in self._layers
        ]

    def _recover(self, why: str, remedy: str = "") -> None:
        episode = self.episode
        if episode is not None and not self.plays_again():
            warnings.warn(
                f"{why}, and the episode that was under way could not be repeated, so its "
                f"{len(episode.actions)} timesteps were taken back{remedy}",
                stacklevel=5,
            )
            self.take_back()

    def _drop_step(self, num_timesteps: int, n_finished: int) -> None:
        """Forget what an interrupt left of a step: all is as it was before it."""
        episode = self.episode
        if episode is None:  # the step had not begun, or all of it was done
            return
        del self.finished[n_finished:], self.episode_returns[n_finished:]
        taken = num_timesteps - episode.first_timestep
        if taken == 0:
            self.take_back()
            return
        del episode.observations[taken + 1 :], episode.actions[taken:], episode.rewards[taken:]
        episode.terminated = False
        self.num_timesteps = num_timesteps
        self.generator.bit_generator.state = episode.generator_state
        self._draw_seed()
        self.generator.random(taken)

    def take_back(self) -> None:
        """Forget the episode under way: all is as it was before its first step."""
        if self.episode is not None:
            self.num_timesteps = self.episode.first_timestep
            self.generator.bit_generator.state = self.episode.generator_state
            self.episode = None

    def plays_again(self) -> bool:
        """Bring the environment to where the episode stood; False if it leads elsewhere."""
        episode = self.episode
        if episode is None:
            return True
        observation, _ = self.env.reset(seed=episode.seed)
        reached: list[Any] = [self.observations.state(observation)]
        rewards: list[float] = []
        for action in episode.actions:
            observation, reward, *ends, _ = self.env.step(self._first_action + action)
            reached.append(self.observations.state(observation))
            rewards.append(float(reward))
            if any(ends):
                return False
        return rewards == episode.rewards and np.array_equal(reached, episode.observations)

    def _begin(self) -> Episode:
        state = dict(self.generator.bit_generator.state)
        # There before its seed is drawn, so that an interrupt finds the state to go back to.
        episode = self.episode = Episode(0, self.num_timesteps, state, [])
        episode.seed = self._draw_seed()
        answer = self.env.reset(seed=episode.seed)
        observation, _ = self._unpacked(answer, "reset", _RESET)
        episode.observations.append(self._checked(observation, 0.0))
        return episode

    def _draw_seed(self) -> int:
        return int(self.generator.integers(2**31))

    def _unpacked(self, answer: Any, call: str, names: tuple[str, ...]) -> Any:
        """The answer of a call, if it has as many parts as gymnasium gives it."""
        is_split = isinstance(answer, tuple | list)
        if is_split and len(answer) == len(names):
            return answer
        found = f"{len(answer)} values" if is_split else repr(answer)
        raise self._error(
            f"{found} from {call}",
            f"it must return {', '.join(names)}, as gymnasium has it. Change {call}, or wrap an "
            "environment of the older gym by the package shimmy",
        )

    def _checked(self, observation: Any, reward: float) -> int | NDArray:
        """The observation as a state; an environment that returns nonsense is stopped here."""
        try:
            state = self.observations.state(observation)
        except (TypeError, ValueError) as error:
            raise self._error(
                f"observation {observation!r}",
                f"{error}. Change observation_space or what is returned, for example by "
                "gymnasium.wrappers.TransformObservation",
            ) from error
        if not (math.isfinite(reward) and (isinstance(state, int) or np.isfinite(state).all())):
            fault = "both must be finite"
        elif abs(reward) > LARGEST:
            fault = (
                f"rewards must be at most {LARGEST:g} in size, scale them by "
                "gymnasium.wrappers.TransformReward"
            )
        else:
            return state
        raise self._error(f"observation {observation} with reward {reward}", fault)

    def _error(self, returned: str, fault: str) -> ValueError:
        return ValueError(
            f"{env_name(self.env)} returned {returned} at timestep {self.num_timesteps}: {fault}. "
            "The episode was discarded and the agent is as it was before it"
        )


def number_of(reward: Any) -> float | None:
    """A reward in double precision, where the bound is a number; None if it is not one number."""
    try:
        if isinstance(reward, float | int) or not (isinstance(reward, str) or np.ndim(reward)):
            return float(reward)
    except (TypeError, ValueError):
        pass
    return None


def rows_of(column: NDArray) -> list:
    """Numbers as Python's own, which hash and compare quickly; vectors as arrays."""
    return column.tolist() if column.ndim == 1 else list(column)
