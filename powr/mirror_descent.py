"""Policy mirror descent with the Kullback-Leibler divergence: Eqs. (14), (15) and Algorithm 1.

A policy is the softmax of its exponent, the step size times the running sum of action values, so a
step adds to the exponent and does nothing else. Arrays have one row per state, one column per
action.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.kernels import StateFunction, Table, Zero

if TYPE_CHECKING:
    from powr.world_model import WorldModel


def softmax(exponents: NDArray) -> NDArray:
    """Probabilities proportional to exp(exponents) in each row; no exponent is too large.

    >>> softmax(np.array([[1000.0, 1000.0]]))
    array([[0.5, 0.5]])
    """
    exponents = np.asfortranarray(exponents)  # so that sums over actions run along the rows
    probabilities = exponents - exponents.max(axis=-1, keepdims=True)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    return probabilities


def kl_step(policy: NDArray, action_values: NDArray, step_size: float) -> NDArray:
    """The minimiser over the simplex of -step_size <q, p> + KL(p, policy), Eq. (14)."""
    with np.errstate(divide="ignore"):
        return softmax(np.log(policy) + step_size * action_values)


class Descent(NamedTuple):
    """What some steps of mirror descent add to the exponent of a policy."""

    exponents: NDArray  # H C, its values at the states of the model, (states, actions)
    coefficients: NDArray  # C of Algorithm 1: the exponent is k(x, states) C
    overshoot: float  # excess of action values over what rewards allow, as a share of that range


def mirror_descent(
    model: WorldModel, exponents: NDArray, *, steps: int, step_size: float, gamma: float
) -> Descent:
    """The loop of Algorithm 1 in a fitted world model.

    Parameters
    ----------
    model : WorldModel
    exponents : (states, actions)
        Those of the policy to start from, at `model.states_`; zeros are the uniform policy.
    steps : int
    step_size : float
        eta of Eq. (14).
    gamma : float
    """
    HC: NDArray = np.zeros_like(exponents, order="F")
    C: NDArray = np.zeros(())
    overshoot = 0.0
    low, high = model.value_bounds(gamma)
    for _ in range(steps):
        pi = softmax(exponents + HC)  # Eq. (15)
        c = model.solve(pi, gamma)  # Prop. 3
        q = model.at_states(c)
        overshoot = max(overshoot, low - float(q.min()), float(q.max()) - high)
        HC += step_size * q
        C = C + step_size * c
    return Descent(HC, model.coefficients(C), overshoot / max(high - low, np.finfo(float).tiny))


class Policy:
    """pi(a|x), the softmax of an exponent such as `KernelExpansion`; a call gives the exponents."""

    def __init__(self, exponents: StateFunction):
        self.exponents = exponents

    def __call__(self, states: ArrayLike) -> NDArray:
        """The exponents at n states, (n, n_actions)."""
        return self.exponents(states)

    def probabilities(self, states: ArrayLike) -> NDArray:
        """The probabilities at n states, (n, n_actions)."""
        return softmax(self(states))

    def greedy(self, states: ArrayLike) -> NDArray:
        """The most probable action at each of n states."""
        return self(states).argmax(axis=1)

    def sample(self, states: ArrayLike, draws: NDArray) -> NDArray:
        """An action at each of n states, for n draws that are uniform on [0, 1)."""
        cumulative = self.probabilities(states).cumsum(axis=1)
        return (draws[:, None] >= cumulative[:, :-1]).sum(axis=1)

    def act(self, state: int | NDArray, draw: float) -> int:
        """The action at one state for a draw that is uniform on [0, 1)."""
        cumulative = _flat_cumulative(self(np.asarray(state)[None]))
        return bisect_right(cumulative, draw, 0, len(cumulative) - 1)


class TablePolicy(Policy):
    """A policy over finitely many states, laid out so that acting is a look-up."""

    def __init__(self, exponents: Table):
        super().__init__(exponents)
        self._index = exponents.index
        self._n_actions = exponents.values.shape[1]
        self._n_states = len(exponents.values)
        self._cumulative = _flat_cumulative(exponents.values)
        self._cumulative += [k / self._n_actions for k in range(1, self._n_actions)]

    def act(self, state: int | NDArray, draw: float) -> int:
        row = self._index.find_one(state, missing=self._n_states)
        start = min(row, self._n_states) * self._n_actions
        return bisect_right(self._cumulative, draw, start, start + self._n_actions - 1) - start


def make_policy(exponents: StateFunction) -> Policy:
    return TablePolicy(exponents) if isinstance(exponents, Table) else Policy(exponents)


def uniform_policy(n_actions: int) -> Policy:
    return Policy(Zero(n_actions))


def _flat_cumulative(exponents: NDArray) -> list[float]:
    """Cumulative probabilities, row after row in one list."""
    return softmax(exponents).cumsum(axis=1).ravel().tolist()
