"""What POWR accepts of an environment: its actions, and its observations as states.

A state is an integer where there are finitely many observations, else a vector of numbers.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from numpy.typing import NDArray

from powr.batches import in_parts, parts_of
from powr.kernels import Dirac, Exponential, Kernel
from powr.validation import check_numeric, check_states

# Bandwidths are this fraction of the range of a dimension.
_FRACTION_OF_RANGE = 1 / 3

# Bounds beyond this stand for "unbounded", as the largest single-precision number does.
_LARGEST_BOUND = 1e30

# Up to here the combinations of several finite spaces are numbered one by one.
_LARGEST_NUMBER = 2**63 - 1


def make_env(env: gymnasium.Env | str) -> gymnasium.Env:
    """The environment itself, or the registered one of that id."""
    if isinstance(env, str):
        return gymnasium.make(env)
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"env must be a gymnasium.Env or the id of one, got {env!r}")
    return env


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
    """The actions of an environment, which must be numbered; the error says how to do so."""
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


def observations_of(space: Space) -> Observations:
    if isinstance(space, Discrete):
        return DiscreteObservations(space)
    if isinstance(space, Box):
        if 0 in space.shape:
            raise ValueError(
                f"the observation space {space} is empty: use Discrete(1) where there is nothing "
                "to observe, by gymnasium.wrappers.TransformObservation"
            )
        return BoxObservations(space)
    if is_finite(space):
        return FiniteObservations(space)
    raise ValueError(
        "the observation space must be a Box, Discrete, MultiDiscrete, MultiBinary, or a Tuple or "
        f"Dict of finite spaces, got {space}: flatten it with "
        "gymnasium.wrappers.FlattenObservation, or map it with TransformObservation"
    )


def is_finite(space: Space) -> bool:
    if isinstance(space, Tuple | Dict):
        return all(is_finite(part) for _, part in parts_of(space))
    return isinstance(space, Discrete | MultiDiscrete | MultiBinary)


class DiscreteObservations:
    """Integers, which are states as they are."""

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
        # A copy, since an environment may go on writing into the array that it returned.
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


class Part(NamedTuple):
    """One array of whole numbers within an observation, and the range of its entries."""

    path: tuple[Any, ...]
    shape: tuple[int, ...]
    low: NDArray
    sizes: NDArray


class FiniteObservations:
    """Combinations of finitely many choices, numbered with a digit per choice.

    Where there are more of them than there are integers, the number is a hash of the digits.
    """

    shape: tuple[int, ...] = ()

    def __init__(self, space: Space):
        self._space = space
        self._parts = list(finite_parts(space))
        sizes = [int(size) for part in self._parts for size in part.sizes]
        self._hashed = math.prod(sizes) > _LARGEST_NUMBER
        radix = [1] * len(sizes)
        if not self._hashed:
            radix = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        self._radix = np.array(radix, np.int64)

    def state(self, observation: Any) -> int:
        return int(self.states(observation)[0][0])

    def states(self, observations: Any) -> tuple[NDArray, bool]:
        observations = in_parts(self._space, observations)
        columns = [self._digits(part, observations) for part in self._parts]
        if len({(len(digits), single) for digits, single in columns}) > 1:
            raise ValueError("the parts of observation must be for one batch, got several lengths")
        digits = np.concatenate([digits for digits, _ in columns], axis=1)
        numbers = np.array([*map(hash_of, digits)], int) if self._hashed else digits @ self._radix
        return numbers, columns[0][1]

    def _digits(self, part: Part, observations: Any) -> tuple[NDArray, bool]:
        """The digits of one part, (n, choices), and whether there is but one observation."""
        name = "observation" + "".join(f"[{key!r}]" for key in part.path)
        for key in part.path:
            observations = observations[key]
        values = check_numeric(observations, name)
        single = values.ndim == len(part.shape)
        batch = values[None] if single else values
        if batch.shape[1:] != part.shape or batch.dtype.kind not in "biu":
            raise ValueError(
                f"{name} must be integers of shape {part.shape}, or a batch of such, "
                f"got {values.dtype} of shape {values.shape}"
            )
        digits = batch.reshape(len(batch), -1).astype(np.int64) - part.low
        outside = (digits < 0) | (digits >= part.sizes)
        if outside.any():
            found = batch.reshape(len(batch), -1)[outside][0]
            raise ValueError(f"{name} must lie within its space, got {found}")
        return digits, single


def finite_parts(space: Space, path: tuple[Any, ...] = ()) -> Iterator[Part]:
    if isinstance(space, Tuple | Dict):
        for key, part in parts_of(space):
            yield from finite_parts(part, (*path, key))
    elif isinstance(space, Discrete):
        yield Part(path, (), np.array([space.start], np.int64), np.array([space.n], np.int64))
    elif isinstance(space, MultiDiscrete):
        sizes = space.nvec.ravel().astype(np.int64)
        yield Part(path, space.shape, np.broadcast_to(space.start, space.shape).ravel(), sizes)
    else:
        shape = space.shape or ()
        size = math.prod(shape)
        yield Part(path, shape, np.zeros(size, np.int64), np.full(size, 2))


def hash_of(digits: NDArray) -> int:
    """63 bits of a hash that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(digits.tobytes(), digest_size=8).digest(), "big") >> 1


# -- kernels --------------------------------------------------------------------------------------


def default_kernel(space: Space, states: NDArray) -> Kernel:
    """Dirac on a finite space, else exponential with bandwidths from bounds or from the data."""
    if not isinstance(space, Box):
        return Dirac()
    low, high = (bound.astype(float).ravel() for bound in (space.low, space.high))
    bounded = (low > -_LARGEST_BOUND) & (high < _LARGEST_BOUND)
    spread = np.where(bounded, high - np.where(bounded, low, 0.0), np.ptp(states, axis=0))
    return Exponential(np.where(spread > 0, spread * _FRACTION_OF_RANGE, 1.0))
