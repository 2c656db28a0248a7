"""An environment whose observations are states, whose actions count from 0, and whose answers are
checked.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.environments.episodes import env_name, limit_of
from powr.environments.spaces import actions_of, observations_of
from powr.validation import LARGEST

# What gymnasium's calls return.
_RESET = ("observation", "info")
_STEP = ("observation", "reward", "terminated", "truncated", "info")

# Steps of one episode after which an environment without a time limit is warned about.
_LONG_EPISODE = 10_000


class Interface:
    """What an agent sees of an environment.

    Parameters
    ----------
    env : gymnasium.Env or str
        An environment, or the id of one.

    Attributes
    ----------
    observations : Observations
        Turns observations into states.
    n_actions : int
    first_action : int
        The environment's number of action 0.
    """

    def __init__(self, env: gymnasium.Env | str):
        if isinstance(env, str):
            env = gymnasium.make(env)
        if not isinstance(env, gymnasium.Env):
            raise TypeError(f"env must be a gymnasium.Env or the id of one, got {env!r}")
        self.env = env
        self.observations = observations_of(env.observation_space)
        actions = actions_of(env)
        self.n_actions, self.first_action = int(actions.n), int(actions.start)
        self._steps = 0
        self._may_warn = limit_of(env) is None

    def reset(self, seed: int) -> int | NDArray:
        self._steps = 0
        observation, _ = self._unpacked(self.env.reset(seed=seed), "reset", _RESET)
        return self._state(observation)

    def step(self, action: int) -> tuple[int | NDArray, float, bool, bool]:
        """Next state, reward, whether the episode terminated, whether it was truncated."""
        answer = self._unpacked(self.env.step(self.first_action + action), "step", _STEP)
        observation, paid, terminated, truncated, _ = answer
        state, reward = self._state(observation), _number(paid)
        if reward is None:
            raise self._error(f"the reward {paid!r}", "it must be one number, and not in an array")
        if not math.isfinite(reward):
            raise self._error(f"the reward {reward}", "it must be finite")
        if abs(reward) > LARGEST:
            raise self._error(
                f"the reward {reward}",
                f"it must be at most {LARGEST:g} in size: scale rewards by "
                "gymnasium.wrappers.TransformReward",
            )
        self._steps += 1
        if self._may_warn and self._steps == _LONG_EPISODE:
            self._may_warn = False
            warnings.warn(
                f"{env_name(self.env)} has no time limit, and an episode has not ended after "
                f"{_LONG_EPISODE:,} steps: POWR learns between episodes, so set a limit by "
                "gymnasium.wrappers.TimeLimit",
                stacklevel=4,
            )
        return state, reward, bool(terminated), bool(truncated)

    def _state(self, observation: Any) -> int | NDArray:
        try:
            state = self.observations.state(observation)
        except (TypeError, ValueError) as error:
            raise self._error(
                f"observation {observation!r}",
                f"{error}. Change observation_space or what is returned, for example by "
                "gymnasium.wrappers.TransformObservation",
            ) from error
        if not isinstance(state, int) and not np.isfinite(state).all():
            raise self._error(f"observation {observation}", "it must be finite")
        return state

    def _unpacked(self, answer: Any, call: str, names: tuple[str, ...]) -> Any:
        """The answer of a call, if it has as many parts as gymnasium gives it."""
        is_split = isinstance(answer, tuple | list)
        if is_split and len(answer) == len(names):
            return answer
        found = f"{len(answer)} values" if is_split else repr(answer)
        raise self._error(
            f"{found} from {call}",
            f"it must return {', '.join(names)}. Change {call}, or wrap an environment of the "
            "older gym by the package shimmy",
        )

    def _error(self, returned: str, fault: str) -> ValueError:
        return ValueError(
            f"{env_name(self.env)} returned {returned} at step {self._steps} of an episode: "
            f"{fault}. The agent keeps the transitions before it"
        )


def _number(reward: Any) -> float | None:
    """A reward in double precision; None if it is not one number."""
    try:
        if isinstance(reward, float | int) or not (isinstance(reward, str) or np.ndim(reward)):
            return float(reward)
    except (TypeError, ValueError, OverflowError):
        pass
    return None
