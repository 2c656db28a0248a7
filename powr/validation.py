"""Checks of arguments: each error names the value given and what is allowed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

# The largest reward, prior and step size: their products and squares, summed over any data and
# over any horizon, are still numbers.
LARGEST = 1e100

# Probabilities may miss a sum of one by this much, as those computed in single precision do.
SUM_TOLERANCE = 1e-6

# Ways to solve Prop. 3, see `WorldModel`.
METHODS = ("auto", "exact", "nystrom")

Parameters = ParamSpec("Parameters")


def refuse_env_arguments(init: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Have a constructor point to gymnasium.make where it is given what it does not know."""
    names = inspect.signature(init).parameters

    @functools.wraps(init)
    def checked(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> None:
        if unknown := ", ".join(keywords.keys() - names.keys()):
            raise TypeError(
                f"{type(arguments[0]).__name__} has no setting {unknown}: give arguments of an "
                f"environment to gymnasium.make(id, {unknown}=...), and what that returns as env"
            )
        init(*arguments, **keywords)

    return checked


def check_number(value: object, name: str, least: float = -LARGEST) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not least <= number <= LARGEST:  # NaN included
        raise ValueError(f"{name} must lie between {least:g} and {LARGEST:g}, got {value}")
    return number


def check_positive(value: object, name: str) -> float:
    number = check_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return number


def check_count(value: object, name: str, least: int = 1) -> int:
    """A whole number; 1e4 is one, too."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    number = int(value)
    if not least <= number < 2**63:
        raise ValueError(f"{name} must lie between {least} and 2^63 - 1, got {value}")
    return number


def check_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_seed(seed: object) -> int:
    """A whole number from 0 on; None draws one."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    return check_count(seed, "seed", least=0)


def check_gamma(value: object, name: str = "gamma") -> float:
    gamma = check_number(value, name)
    if not 0 <= gamma < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {value}")
    return gamma


def check_method(method: object) -> str:
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return method


def check_states(
    states: ArrayLike, name: str = "states", shape: tuple[int, ...] | None = None
) -> NDArray:
    """States as an array of integers (n,) or of finite floats (n, d), each state of `shape`."""
    states = check_numeric(states, name)
    if states.shape == (0,):
        states = states.astype(int)  # an empty list is an array of floats
    if shape is not None and (states.ndim == 0 or states.shape[1:] != shape):
        expected = "(n,), integers" if shape == () else f"(n, {shape[0]})"
        raise ValueError(
            f"{name} must have shape {expected}, got {states.shape}: one state is a batch of one"
        )
    if states.ndim not in (1, 2) or (states.ndim == 1 and states.dtype.kind == "f"):
        raise ValueError(
            f"{name} must have shape (n, d), or (n,) for integers, got {states.dtype} of shape "
            f"{states.shape}: states of one real dimension are {name}.reshape(-1, 1)"
        )
    if states.ndim == 1:
        return states.astype(int)
    states = states.astype(float)
    check_finite(states, name)
    return states


def check_numeric(values: ArrayLike, name: str) -> NDArray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got an array of {array.dtype}")
    return array


def check_finite(values: NDArray, name: str) -> None:
    refuse_first(~np.isfinite(values), values, f"{name} must be finite")


def refuse_first(is_wrong: NDArray, values: NDArray, rule: str, remedy: str = "") -> None:
    """Name the first value that is wrong, with its row."""
    if is_wrong.any():
        where = tuple(np.argwhere(is_wrong)[0].tolist())
        raise ValueError(f"{rule}, got {values[where]} at row {where[0]}{remedy}")


def check_transitions(
    states: ArrayLike,
    actions: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    terminated: ArrayLike,
    *,
    n_actions: int,
    shape: tuple[int, ...] | None = None,
) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """The five columns of a data set as arrays of the right type and of one length."""
    states = check_states(states, "states", shape)
    next_states = check_states(next_states, "next_states", states.shape[1:])
    actions, rewards, terminated = map(np.asarray, (actions, rewards, terminated))
    lengths = [len(states), actions.size, rewards.size, len(next_states), terminated.size]
    if len(set(lengths)) > 1 or lengths[0] == 0:
        raise ValueError(f"all five arrays must have one length of at least 1, got {lengths}")
    for name, column in (("actions", actions), ("rewards", rewards), ("terminated", terminated)):
        if column.ndim != 1:
            raise ValueError(f"{name} must have shape (n,), got {column.shape}")
    if actions.dtype.kind not in "iu":
        raise TypeError(f"actions must be integers, got an array of {actions.dtype}")
    outside = (actions < 0) | (actions >= n_actions)
    refuse_first(outside, actions, f"actions must lie between 0 and {n_actions - 1}")
    rewards = check_numeric(rewards, "rewards").astype(float)
    rule = f"rewards must be finite and at most {LARGEST:g} in size"
    refuse_first(~(np.abs(rewards) <= LARGEST), rewards, rule, ": divide them all by one number")
    if not ((terminated == 0) | (terminated == 1)).all():
        raise ValueError("terminated must be true or false (1 or 0) in each row")
    return states, actions.astype(int), rewards, next_states, terminated.astype(bool)


def check_policy(probabilities: ArrayLike, n_states: int, n_actions: int) -> NDArray:
    """A policy at n states: (n, n_actions), each row a probability distribution."""
    probabilities = np.asarray(probabilities, float)
    if probabilities.shape != (n_states, n_actions):
        raise ValueError(
            f"the policy's probabilities must have shape {(n_states, n_actions)}, one row per "
            f"state, got {probabilities.shape}"
        )
    check_finite(probabilities, "the policy's probabilities")
    wrong = (probabilities < 0).any(axis=1) | (abs(probabilities.sum(axis=1) - 1) > SUM_TOLERANCE)
    rule = "the policy's probabilities must not be negative and must sum to 1 in each row"
    refuse_first(wrong, probabilities, rule)
    return probabilities
