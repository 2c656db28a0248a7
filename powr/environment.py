"""An environment as an agent sees it: observations are states, actions count from 0.

A state is an integer where there are finitely many observations, else a vector of numbers. What the
environment returns is checked here and nowhere else.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.vector.utils import batch_space, iterate
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from powr.validation import LARGEST, check_numeric, check_states

# In more dimensions all distances are similar, and kernels of them are slow.
MOST_DIMENSIONS = 256

# Up to here the combinations of several finite spaces are numbered one by one.
_LARGEST_NUMBER = 2**63 - 1

# What gymnasium's calls return.
_RESET = ("observation", "info")
_STEP = ("observation", "reward", "terminated", "truncated", "info")


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
    id : str or None
        As it was given, with the module that registers it.
    """

    def __init__(self, env: gymnasium.Env | str):
        given = env
        if isinstance(env, str):
            env = gymnasium.make(env)
        if not isinstance(env, gymnasium.Env):
            of_several = ": give one of them, as gymnasium.make makes it" * hasattr(env, "num_envs")
            raise TypeError(
                f"env must be a gymnasium.Env or the id of one, got {env!r}{of_several}"
            )
        self.env, self.id = env, given if isinstance(given, str) else env.spec and env.spec.id
        self.observations = observations_of(env.observation_space)
        actions = actions_of(env)
        self.n_actions, self.first_action = int(actions.n), int(actions.start)
        self._steps = 0

    def reset(self, seed: int) -> int | NDArray:
        self._steps = 0
        observation, _ = self._unpacked(self.env.reset(seed=seed), "reset", _RESET)
        return self._state(observation)

    def step(self, action: int) -> tuple[int | NDArray, float, bool, bool]:
        """Next state, reward, whether the episode terminated, whether it was truncated."""
        answer = self._unpacked(self.env.step(self.first_action + action), "step", _STEP)
        observation, paid, terminated, truncated, _ = answer
        state = self._state(observation)
        try:
            is_one = isinstance(paid, float | int) or not (isinstance(paid, str) or np.ndim(paid))
            reward = float(paid) if is_one else math.nan
        except (TypeError, ValueError, OverflowError):
            reward = math.nan
        if not abs(reward) <= LARGEST:
            raise self._error(
                f"the reward {paid!r}",
                f"it must be one finite number of at most {LARGEST:g} in size: change it by "
                "gymnasium.wrappers.TransformReward",
            )
        self._steps += 1
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


class SpacesAlone(gymnasium.Env):
    """Stands for the environment of an agent that learns from logged data alone."""

    def __init__(self, observation_space: Space, action_space: Space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, **_: Any) -> Any:
        raise ValueError(
            "the agent was made from spaces and has no environment to play in: learn from logged "
            "data by fit, or give env"
        )


def env_or_spaces(
    env: gymnasium.Env | str | None, observation_space: Space | None, action_space: Space | None
) -> gymnasium.Env | str:
    """The environment given, or what stands for it where only its spaces are."""
    if env is not None and observation_space is None and action_space is None:
        return env
    if env is None and observation_space is not None and action_space is not None:
        return SpacesAlone(observation_space, action_space)
    raise TypeError("give env or, to learn from logged data, observation_space and action_space")


# -- facts ----------------------------------------------------------------------------------------


def make(env_id: str, **arguments: Any) -> gymnasium.Env:
    """The environment of an id; whatever hinders it is a ValueError."""
    try:
        return gymnasium.make(env_id, **arguments)
    except Exception as error:  # an environment may raise anything
        raise ValueError(f"{env_id} cannot be made: {error}") from error


def limit_of(env: gymnasium.Env) -> int | None:
    """The time limit of an environment, as registered or else as wrapped."""
    if env.spec and env.spec.max_episode_steps:
        return env.spec.max_episode_steps
    wrappers = [layer for layer in layers_of(env) if isinstance(layer, TimeLimit)]
    return min((wrapper._max_episode_steps for wrapper in wrappers), default=None)


def layers_of(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """The environment, and what it wraps."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def env_name(env: gymnasium.Env) -> str:
    return env.spec.id if env.spec else str(env)


# -- actions --------------------------------------------------------------------------------------


def actions_of(env: gymnasium.Env) -> Discrete:
    """The action space, which must be Discrete."""
    space = env.action_space
    if isinstance(space, Discrete):
        return space
    some = "some of its actions, a list of levels,"
    if isinstance(space, Box):  # all combinations of a few numbers in each dimension
        bounds = "env.action_space.low, env.action_space.high"
        some = f"levels = np.array(list(itertools.product(*np.linspace({bounds}, 3).T)))"
    raise ValueError(
        f"the action space must be Discrete, got {space}: number {some} by "
        "gymnasium.wrappers.TransformAction(env, lambda i: levels[i], Discrete(len(levels)))"
    )


# -- observations ---------------------------------------------------------------------------------


def refuse_reset(observation: Any, space: Space) -> None:
    """Name the mistake of passing on all that `env.reset()` returns."""
    is_pair = isinstance(observation, tuple) and len(observation) == 2
    if is_pair and isinstance(observation[1], dict) and not isinstance(space, Tuple):
        raise ValueError(
            "observation is a pair of an observation and a dict, as env.reset() returns it: "
            "write `observation, info = env.reset()` and give the observation alone"
        )


def observations_of(space: Space) -> Observations:
    """How the observations of a space become states of one shape, () or (d,)."""
    if isinstance(space, Discrete):
        return DiscreteObservations(space)
    if isinstance(space, Box):
        if not 1 <= math.prod(space.shape) <= MOST_DIMENSIONS:
            raise ValueError(
                f"the observation space {space} has {math.prod(space.shape):,} dimensions, not 1 "
                f"to {MOST_DIMENSIONS}: reduce it to a few features, or to Discrete(1) where there "
                "is nothing to observe, by gymnasium.wrappers.TransformObservation"
            )
        return BoxObservations(space)
    if is_finite(space):
        return CompositeObservations(space)
    raise ValueError(
        "the observation space must be a Box, Discrete, MultiDiscrete, MultiBinary, or a Tuple or "
        f"Dict of finite spaces, got {space}: flatten it with "
        "gymnasium.wrappers.FlattenObservation, or map it with TransformObservation"
    )


def is_finite(space: Space) -> bool:
    if isinstance(space, Tuple | Dict):
        return all(is_finite(part) for _, part in _parts(space))
    return isinstance(space, Discrete | MultiDiscrete | MultiBinary)


class DiscreteObservations:
    """Integers, used as states unchanged."""

    shape: tuple[int, ...] = ()

    def __init__(self, space: Discrete):
        self._space = space
        self._least = int(space.start)
        self._largest = self._least + int(space.n) - 1

    def state(self, observation: Any) -> int:
        try:
            state = operator.index(observation)
        except TypeError:
            if not isinstance(observation, np.bool_):
                raise self._error(observation) from None
            state = int(observation)
        if not self._least <= state <= self._largest:
            raise self._error(observation)
        return state

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        given = check_numeric(observations, "observation")
        is_whole = given.dtype.kind in "biu" or given.size == 0  # an empty list is one of floats
        if not is_whole or given.ndim > 1:
            raise self._error(f"{given.dtype} of shape {given.shape}")
        states = given.reshape(-1).astype(int)
        outside = (states < self._least) | (states > self._largest)
        if outside.any():
            raise self._error(states[outside][0])
        return states, given.ndim == 0

    def _error(self, given: object) -> ValueError:
        rule = f"observation must be an integer of {self._space}, or an array of them"
        return ValueError(f"{rule}, got {given}")


class BoxObservations:
    """Arrays of one shape, flattened."""

    def __init__(self, space: Box):
        self._shape = space.shape
        self.shape: tuple[int, ...] = (math.prod(space.shape),)

    def state(self, observation: Any) -> NDArray:
        # A copy, since an environment may reuse the array that it returned.
        state = np.array(observation, float)
        if state.shape != self._shape:
            raise ValueError(f"observation must have shape {self._shape}, got {state.shape}")
        return state.reshape(self.shape)

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        given = check_numeric(observations, "observation")
        single = given.shape == self._shape
        if not single and given.shape[1:] != self._shape:
            batch = ", ".join(["n", *map(str, self._shape)])
            raise ValueError(
                f"observation must have shape {self._shape} or ({batch}), got {given.shape}"
            )
        return check_states(given.reshape(-1, *self.shape), "observation", self.shape), single


class CompositeObservations:
    """Combinations of finitely many choices, numbered with a digit per choice.

    Where there are more of them than there are integers, the number is a hash of the digits.
    """

    shape: tuple[int, ...] = ()

    def __init__(self, space: Space):
        self._space = space

    def state(self, observation: Any) -> int:
        number, n_combinations = 0, 1
        try:
            for digit, size in _digits(self._space, observation):
                number, n_combinations = number * size + digit, n_combinations * size
        except (TypeError, KeyError, IndexError, ValueError):
            raise ValueError(
                f"observation must be one of {self._space}, or a batch, got {observation!r}"
            ) from None
        if n_combinations <= _LARGEST_NUMBER:
            return number
        text = str(number).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        """A batch is a list of observations or, as in gymnasium's vector environments, an array per
        part.
        """
        try:
            return np.array([self.state(observations)]), True
        except ValueError as error:
            is_array_of_rows = isinstance(observations, np.ndarray) and isinstance(
                self._space, Tuple
            )
            if not (isinstance(observations, list) or is_array_of_rows):
                try:
                    observations = list(iterate(batch_space(self._space, 1), observations))
                except (TypeError, KeyError, IndexError):
                    raise error from None
        return np.array([self.state(each) for each in observations], int), False


Observations = DiscreteObservations | BoxObservations | CompositeObservations


def _parts(space: Tuple | Dict) -> list[tuple[Any, Space]]:
    return list(space.items() if isinstance(space, Dict) else enumerate(space))


def _digits(space: Any, observation: Any) -> Iterator[tuple[int, int]]:
    """The choices of an observation, counted from 0, and how many there are of each."""
    if isinstance(space, Tuple | Dict):
        if len(observation) != len(space):
            raise ValueError
        for key, part in _parts(space):
            yield from _digits(part, observation[key])
        return
    values = np.asarray(observation)
    sizes: Any = np.full(space.shape, 2)
    if not isinstance(space, MultiBinary):
        sizes = space.nvec if isinstance(space, MultiDiscrete) else space.n
    if values.dtype.kind not in "biu" or values.shape != (space.shape or ()):
        raise ValueError
    digits = values.astype(int) - getattr(space, "start", 0)
    if ((digits < 0) | (digits >= sizes)).any():
        raise ValueError
    yield from zip(digits.ravel().tolist(), np.ravel(sizes).tolist(), strict=True)
