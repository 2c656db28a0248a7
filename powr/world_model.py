"""The operator world model: transition operator, reward and action values in closed form.

`WorldModel` estimates T_n and r_n by conditional mean embeddings, Eq. (10), and from them the
action values of any policy, Prop. 3. It holds the data; `powr/solvers` solves the linear systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.data import Counts
from powr.kernels import (
    Dirac,
    Gaussian,
    Kernel,
    KernelExpansion,
    StateFunction,
    Table,
    check_kernel,
    expand,
)
from powr.solvers import Solver
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.solvers.exact import ExactModel
from powr.solvers.nystrom import NystromModel
from powr.validation import (
    check_count,
    check_gamma,
    check_method,
    check_number,
    check_policy,
    check_positive,
    check_transitions,
)

# The error of a Nystrom kernel on its diagonal, as a share of the largest k(x, x): a tenth of the
# usual regularization. Action values then differ from the exact ones by about 1e-7 of their range.
TOLERANCE = 1e-7

# Unknowns of the largest Nystrom system (144 MB and its factors), and distinct pairs of the largest
# exact one that "auto" takes in its place (0.7 GB in all).
MOST_UNKNOWNS = 6000
MOST_PAIRS = 4000

# States of the data whose nearness makes the features of a next state in a score.
_LANDMARKS = 12

PolicyFunction = Callable[[NDArray], NDArray]
Rows = ArrayLike  # one entry per transition


class NotFittedError(ValueError, AttributeError):
    """Subclasses AttributeError so that hasattr() is False before fit, as in scikit-learn."""

    def __init__(self) -> None:
        super().__init__("the model has no data yet: call fit")


class Score(NamedTuple):
    """Mean squared errors of a world model on held-out transitions, as shares of those of 0."""

    reward: float
    next_state: float  # of features of the next state, all 0 after termination


class WorldModel:
    """World model and closed-form action values from transitions.

    Parameters
    ----------
    kernel : Kernel
        The state kernel: one of `powr.kernels`, or a callable of your own like them.
    n_actions : int
        Number of actions, numbered from 0.
    regularization : float, default=1e-6
        The ridge parameter lambda of Eq. (10).
    method : {"auto", "exact", "nystrom"}, default="auto"
        "exact" has one unknown per distinct state-action pair (per state, for the Dirac kernel).
        "nystrom" fits all data in the span of a dictionary of states from a pivoted Cholesky.
        "auto" is exact for the Dirac kernel and up to `max_rank` distinct pairs, else Nystrom. With
        more than 6,000 / `max_rank` actions it is exact up to 4,000 pairs.
    tolerance : float, default=1e-7
        Largest error of the Nystrom kernel on its diagonal, relative to the largest k(x, x).
    max_rank : int, default=1000
        Largest number of states in the Nystrom dictionary; at most 6,000 / `n_actions`, for the
        memory.

    Attributes
    ----------
    states_ : ndarray
        The distinct states, in order of appearance.
    n_transitions_ : int
    rank_ : int
        Number of states or pairs that span the model.
    method_ : str
        The method in use.

    Examples
    --------
    Two states; action 1 moves to the other one, which pays 1 in state 0.

    >>> from powr.kernels import Dirac
    >>> model = WorldModel(Dirac(), 2, regularization=1e-9)
    >>> _ = model.fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0], [False] * 4)
    >>> uniform = lambda states: np.full((len(states), 2), 0.5)
    >>> model.action_values(uniform, 0.5)([0, 1]).round(3)
    array([[0.375, 1.125],
           [0.125, 0.375]])
    """

    def __init__(
        self,
        kernel: Kernel,
        n_actions: int,
        *,
        regularization: float = 1e-6,
        method: str = "auto",
        tolerance: float = TOLERANCE,
        max_rank: int = 1000,
    ):
        self.kernel = kernel
        self.n_actions = n_actions
        self.regularization = regularization
        self.method = method
        self.tolerance = tolerance
        self.max_rank = max_rank
        self.method_ = ""
        self._counts: Counts | None = None
        self._solver: Solver | None = None

    def fit(
        self, states: Rows, actions: Rows, rewards: Rows, next_states: Rows, terminated: Rows
    ) -> WorldModel:
        """Fit to these transitions alone.

        Parameters
        ----------
        states, next_states : (n, d) floats, or (n,) integers
        actions : (n,) integers
        rewards : (n,) floats
        terminated : (n,) bool
            Whether the environment terminated; truncation by a time limit does not count.
        """
        self._counts, self._solver = None, None
        return self.partial_fit(states, actions, rewards, next_states, terminated)

    def partial_fit(
        self, states: Rows, actions: Rows, rewards: Rows, next_states: Rows, terminated: Rows
    ) -> WorldModel:
        """Add transitions to those already fitted.

        The result is that of one `fit` to all; for a Nystrom model, up to its tolerance, or up to
        what `max_rank` allows.
        """
        check_count(self.n_actions, "n_actions")
        check_count(self.max_rank, "max_rank")
        check_number(self.tolerance, "tolerance", least=0)
        check_positive(self.regularization, "regularization")
        check_method(self.method)
        shape = None if self._counts is None else self._counts.index.shape
        columns = (states, actions, rewards, next_states, terminated)
        columns = check_transitions(*columns, n_actions=self.n_actions, shape=shape)
        if self._counts is None:
            check_kernel(self.kernel, columns[0].shape[1:])
            self._counts = Counts(columns[0].shape[1:], self.n_actions)
        self._counts.add(*columns)
        method = self._choose_method()
        if self._solver is None or method != self.method_:
            self.method_, self._solver = method, self._new_solver(method)
        self._is_stale = True
        if method == "nystrom":
            self._ready_solver()  # its dictionary depends on the portions in which the data came
        return self

    @property
    def states_(self) -> NDArray:
        return self._data.index.states

    @property
    def n_transitions_(self) -> int:
        return self._data.size

    @property
    def rank_(self) -> int:
        return self._ready_solver().rank

    def action_values(self, policy: PolicyFunction, gamma: float) -> KernelExpansion | Table:
        """The estimate q of the policy's action values, Prop. 3, as a function of states.

        Parameters
        ----------
        policy : callable
            Maps n states to their (n, n_actions) probabilities.
        gamma : float

        Returns
        -------
        callable
            Maps n states to their (n, n_actions) action values.
        """
        check_gamma(gamma)
        probabilities = check_policy(policy(self.states_), len(self.states_), self.n_actions)
        return self.function(self.coefficients(self.solve(probabilities, gamma)))

    def reward(self, states: ArrayLike) -> NDArray:
        """The reward estimate r_n(x, a) of Eq. (10), (n, n_actions)."""
        return self._regress(self._data.pair_reward)(states)

    def expect(
        self, f: StateFunction, states: ArrayLike, *, past_termination: bool = True
    ) -> NDArray:
        """The estimate (T_n f)(x, a) of the mean of f at the next state, Eq. (10), (n, n_actions).

        Parameters
        ----------
        f : callable
            Maps n states to n numbers.
        states : (n, d) floats, or (n,) integers
        past_termination : bool, default=True
            Whether f counts at the state in which an episode terminates; for values it does not.
        """
        data = self._data
        counts = data.triple_count if past_termination else data.continuing_count
        values, n_states = np.asarray(f(self.states_), float), len(self.states_)
        if values.shape != (n_states,):
            raise ValueError(
                f"f must return one number per state, an array of shape ({n_states},) for "
                f"{n_states} states, got {values.shape}"
            )
        return self._regress(data.next_counts(counts) @ values)(states)

    def score(
        self, states: Rows, actions: Rows, rewards: Rows, next_states: Rows, terminated: Rows
    ) -> Score:
        """How well rewards and next states of these transitions, not those fitted, are predicted.

        Each is 0 where the prediction is perfect and 1 where it is as bad as a constant 0. The
        features of the next state are the nearness to a few states of the data: they do not depend
        on the kernel, so that models with different kernels can be compared.
        """
        given, shape = (states, actions, rewards, next_states, terminated), self.states_.shape[1:]
        x, a, r, x_next, d = check_transitions(*given, n_actions=self.n_actions, shape=shape)
        rows, nearness = np.arange(len(x)), _nearness(self.states_)
        counts = self._data.next_counts(self._data.continuing_count)
        targets = (counts @ nearness(self.states_)).T
        expected = np.stack([self._regress(target)(x)[rows, a] for target in targets], axis=1)
        return Score(
            _relative_error(self.reward(x)[rows, a], r),
            _relative_error(expected, nearness(x_next) * ~d[:, None]),
        )

    # -- what mirror descent needs ----------------------------------------------------------------

    def solve(self, policy: NDArray, gamma: float) -> NDArray:
        """Solve (K_lambda - gamma M_pi) c = y, Prop. 3, for a policy given at `states_`.

        c is in the solver's own unknowns: see `at_states` and `coefficients`.
        """
        solver = self._ready_solver()
        remedy = "raise the regularization, lower gamma, or use a rougher kernel (Exponential)"
        place = f"at gamma {gamma}, regularization {self.regularization} and {self.kernel!r}"
        try:
            c = solver.solve(self._data.pair_reward, policy, gamma, self.regularization)
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"the system of Prop. 3 is singular {place}: {remedy}"
            ) from error
        if not np.isfinite(c).all():
            raise np.linalg.LinAlgError(
                f"the solve of Prop. 3 gave action values that are not finite {place}: {remedy}"
            )
        return c

    def at_states(self, c: NDArray) -> NDArray:
        """The action values of c at `states_`: H c of Algorithm 1, (states, actions)."""
        return self._ready_solver().at_states(c)

    def coefficients(self, c: NDArray) -> NDArray:
        """c as coefficients over `states_`, (states, actions)."""
        return self._ready_solver().coefficients(c)

    def function(self, coefficients: NDArray) -> KernelExpansion | Table:
        """The function k(x, states_) C of n states, (n, n_actions)."""
        return expand(self.kernel, self._data.index, coefficients)

    def value_bounds(self, gamma: float) -> tuple[float, float]:
        """The least and the largest discounted sum of rewards that the data allow.

        An episode may end at any time, so 0 is among them.
        """
        low, high = (reward / (1 - gamma) for reward in self._data.reward_range)
        return min(low, 0.0), max(high, 0.0)

    def forget_factors(self) -> None:
        """Drop what speeds up the next solve: it then equals that of a model fitted afresh."""
        if isinstance(self._solver, NystromModel):
            self._solver.factors = None

    @property
    def _data(self) -> Counts:
        if self._counts is None:
            raise NotFittedError
        return self._counts

    def _regress(self, targets: NDArray) -> KernelExpansion | Table:
        weights = self._ready_solver().regress(targets, self.regularization)
        return self.function(self.coefficients(weights))

    def _choose_method(self) -> str:
        """The method for the data: "auto" is exact as long as that is cheap."""
        if self.method != "auto":
            return self.method
        # Where many actions would cut the rank, exact systems are the smaller ones for longer.
        is_cut = self._rank_limit < self.max_rank
        most = max(self.max_rank, MOST_PAIRS) if is_cut else self.max_rank
        is_cheap = isinstance(self.kernel, Dirac) or len(self._data.pair_state) <= most
        return "exact" if is_cheap else "nystrom"

    @property
    def _rank_limit(self) -> int:
        """The rank that keeps a Nystrom system, of rank times actions unknowns, small."""
        return max(1, min(self.max_rank, MOST_UNKNOWNS // self.n_actions))

    def _new_solver(self, method: str) -> Solver:
        if method == "exact":
            is_dirac = isinstance(self.kernel, Dirac)
            return EmpiricalMDP(self._data) if is_dirac else ExactModel(self.kernel, self._data)
        if (rank := self._rank_limit) < self.max_rank:
            warnings.warn(
                f"{self.n_actions} actions leave memory for a rank of {rank}, less than max_rank "
                f"({self.max_rank}), so that values are coarser: use fewer actions if it matters",
                stacklevel=3,
            )
        return NystromModel(self.kernel, self._data, self.tolerance, rank)

    def _ready_solver(self) -> Solver:
        """The solver, brought up to date where the data grew since it was last used."""
        if self._solver is None:
            raise NotFittedError
        if self._is_stale:
            self._solver.update()
            self._is_stale = False
        return self._solver


def _nearness(states: NDArray) -> StateFunction:
    """Features of states: how near they are to a few of these, in units of their spread."""
    kernel: Kernel = Dirac()
    if states.ndim > 1:
        kernel = Gaussian(np.where(np.ptp(states, axis=0) > 0, states.std(axis=0), 1.0))
    landmarks = np.unique(np.linspace(0, len(states) - 1, _LANDMARKS).astype(int))
    return lambda x: kernel(np.asarray(x), states[landmarks])


def _relative_error(predicted: NDArray, actual: NDArray) -> float:
    """The squared error as a share of the squares; 0 where all are 0."""
    error, size = ((predicted - actual) ** 2).sum(), (actual**2).sum()
    return float(error / size) if size > 0 else float(error > 0)
