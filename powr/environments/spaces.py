"""The spaces that POWR accepts: Discrete actions, and observations turned into states.

A state is an integer where there are finitely many observations, else a vector of numbers.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Iterator
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from powr.kernels import Dirac, Exponential, Kernel
from powr.validation import check_numeric, check_states

# Bandwidths are this fraction of the range of a dimension.
_FRACTION_OF_RANGE = 1 / 3

# Bounds beyond this stand for "unbounded", as the largest single-precision number does.
_LARGEST_BOUND = 1e30

# In more dimensions all distances are similar, and kernels of them are slow.
MOST_DIMENSIONS = 256

# Up to here the combinations of several finite spaces are numbered one by one.
_LARGEST_NUMBER = 2**63 - 1


# -- actions --------------------------------------------------------------------------------------

_DISCRETISE = """
    levels = np.linspace(env.action_space.low, env.action_space.high, 5)
    actions = gymnasium.spaces.Discrete(len(levels))
    env = gymnasium.wrappers.TransformAction(env, lambda i: levels[i], actions)"""

_ENUMERATE = """
    sizes = np.broadcast_to({sizes}, env.action_space.shape)
    actions = gymnasium.spaces.Discrete(sizes.prod())
    env = gymnasium.wrappers.TransformAction(env, lambda i: np.unravel_index(i, sizes), actions)"""


def actions_of(env: gymnasium.Env) -> Discrete:
    """The action space, which must be Discrete; the error shows how to convert another one."""
    space = env.action_space
    if isinstance(space, Discrete):
        return space
    fault = f"the action space must be Discrete, got {space}"
    if isinstance(space, Box):
        raise ValueError(f"{fault}: choose some of its actions, for example{_DISCRETISE}")
    if isinstance(space, MultiDiscrete | MultiBinary):
        sizes = "env.action_space.nvec" if isinstance(space, MultiDiscrete) else "2"
        remedy = _ENUMERATE.format(sizes=sizes)
        raise ValueError(f"{fault}: number the combinations of its actions, for example{remedy}")
    raise ValueError(f"{fault}: number its actions by gymnasium.wrappers.TransformAction")


# -- observations ---------------------------------------------------------------------------------


class Observations(Protocol):
    """How the observations of a space become states of one shape, () or (d,)."""

    shape: tuple[int, ...]

    def state(self, observation: Any) -> int | NDArray:
        """One observation as a state that later changes of the observation leave alone."""
        ...

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        """A batch of states, and whether a single observation was given."""
        ...


def refuse_reset(observation: Any, space: Space) -> None:
    """Name the mistake of passing on all that `env.reset()` returns."""
    is_pair = isinstance(observation, tuple) and len(observation) == 2
    if is_pair and isinstance(observation[1], dict) and not isinstance(space, Tuple):
        raise ValueError(
            "observation is a pair of an observation and a dict, as env.reset() returns it: "
            "write `observation, info = env.reset()` and give the observation alone"
        )


def observations_of(space: Space) -> Observations:
    if isinstance(space, Discrete):
        return DiscreteObservations(space)
    if isinstance(space, Box):
        if 0 in space.shape:
            raise ValueError(
                f"the observation space {space} is empty: use Discrete(1) where there is nothing "
                "to observe, by gymnasium.wrappers.TransformObservation"
            )
        if math.prod(space.shape) > MOST_DIMENSIONS:
            raise ValueError(
                f"the observation space {space} has {math.prod(space.shape):,} dimensions, more "
                f"than {MOST_DIMENSIONS}: reduce it to a few features by "
                "gymnasium.wrappers.TransformObservation"
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
                raise ValueError(
                    f"observation must be an integer of {self._space}, got {observation!r}"
                ) from None
            state = int(observation)
        if not self._least <= state <= self._largest:
            raise ValueError(f"observation must lie within {self._space}, got {state}")
        return state

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        given = check_numeric(observations, "observation")
        is_whole = given.dtype.kind in "biu" or given.size == 0  # an empty list is one of floats
        if not is_whole or given.ndim > 1:
            raise ValueError(
                f"observation must be integers of {self._space}, one alone or of shape (n,), "
                f"got {given.dtype} of shape {given.shape}"
            )
        states = given.reshape(-1).astype(int)
        outside = (states < self._least) | (states > self._largest)
        if outside.any():
            raise ValueError(f"observation must lie within {self._space}, got {states[outside][0]}")
        return states, given.ndim == 0


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
        for digit, size in _digits(self._space, observation, "observation"):
            number, n_combinations = number * size + digit, n_combinations * size
        if n_combinations <= _LARGEST_NUMBER:
            return number
        text = str(number).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        """A batch is a list of observations or, as in gymnasium's vector environments, an array per
        part.
        """
        if _has_form(self._space, observations):
            return np.array([self.state(observations)]), True
        if isinstance(observations, np.ndarray) and isinstance(self._space, Tuple):
            observations = list(observations)  # one row per observation, not per part
        if not isinstance(observations, list):
            try:
                n = len(next(_leaves(self._space, observations)))
                observations = iterate(batch_space(self._space, n), observations)
            except (TypeError, KeyError, IndexError, StopIteration) as error:
                raise ValueError(
                    f"observation must be of {self._space}, or a list of such, got {observations!r}"
                ) from error
        return np.array([self.state(each) for each in observations], int), False


def _parts(space: Tuple | Dict) -> list[tuple[Any, Space]]:
    return list(space.items() if isinstance(space, Dict) else enumerate(space))


def _leaves(space: Space, observation: Any) -> Iterator[Any]:
    """What an observation, or a batch of them, holds for each simple space within."""
    if not isinstance(space, Tuple | Dict):
        yield observation
        return
    for key, part in _parts(space):
        yield from _leaves(part, observation[key])


def _has_form(space: Space, observation: Any) -> bool:
    """Whether a value has the parts and dimensions of one observation."""
    if not isinstance(space, Tuple | Dict):
        return np.ndim(observation) == len(space.shape or ())
    try:
        return len(observation) == len(space) and all(
            _has_form(part, observation[key]) for key, part in _parts(space)
        )
    except (TypeError, KeyError, IndexError, ValueError):  # the last where np.ndim finds it ragged
        return False


def _digits(space: Space, observation: Any, name: str) -> Iterator[tuple[int, int]]:
    """The choices of an observation, counted from 0, and how many there are of each."""
    if isinstance(space, Tuple | Dict):
        if not _has_form(space, observation):
            raise ValueError(f"{name} must be of {space}, got {observation!r}")
        for key, part in _parts(space):
            yield from _digits(part, observation[key], f"{name}[{key!r}]")
        return
    values = check_numeric(observation, name)
    if values.dtype.kind not in "biu" or values.shape != (space.shape or ()):
        raise ValueError(
            f"{name} must be integers of {space}, got {values.dtype} of shape {values.shape}"
        )
    start = getattr(space, "start", 0)
    if isinstance(space, Discrete):
        sizes = np.array(space.n)
    else:
        sizes = space.nvec if isinstance(space, MultiDiscrete) else np.full(values.shape, 2)
    digits = values.astype(int) - start
    outside = (digits < 0) | (digits >= sizes)
    if outside.any():
        raise ValueError(f"{name} must lie within {space}, got {values[outside].flat[0]}")
    yield from zip(digits.ravel().tolist(), sizes.ravel().tolist(), strict=True)


# -- kernels --------------------------------------------------------------------------------------


def default_kernel(space: Space, states: NDArray) -> Kernel:
    """Dirac on a finite space, else exponential with bandwidths from bounds or from the data."""
    if not isinstance(space, Box):
        return Dirac()
    low, high = (bound.astype(float).ravel() for bound in (space.low, space.high))
    bounded = (low > -_LARGEST_BOUND) & (high < _LARGEST_BOUND)
    spread = np.where(bounded, high - np.where(bounded, low, 0.0), np.ptp(states, axis=0))
    return Exponential(np.where(spread > 0, spread * _FRACTION_OF_RANGE, 1.0))
