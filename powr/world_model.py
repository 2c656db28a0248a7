"""The operator world model: transition operator, reward and action values in closed form.

`WorldModel` estimates T_n and r_n by conditional mean embeddings, Eq. (10), and from them the
action values of any policy, Prop. 3. It holds the data; the solving is done in `powr/solvers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from powr.functions import KernelExpansion, StateFunction, Table, expand
from powr.kernels import Kernel, check_kernel
from powr.solvers import TOLERANCE, Solver, check_method, choose_method, make_solver
from powr.solvers.exact import next_counts
from powr.transitions import Transitions
from powr.validation import (
    check_count,
    check_gamma,
    check_not_negative,
    check_number,
    check_policy,
    check_positive,
    check_transitions,
)

Policy = Callable[[NDArray], NDArray]
Rows = ArrayLike  # one entry per transition


class NotFittedError(ValueError, AttributeError):
    """An error of both kinds, as scikit-learn's: `hasattr` says no to what is not there yet."""

    def __init__(self) -> None:
        super().__init__("the model knows no transitions yet: call fit")


class WorldModel:
    """World model and closed-form action values from transitions.

    Parameters
    ----------
    kernel : the state kernel: one of `powr.kernels`, or a callable of your own like them.
    n_actions : number of actions, numbered from 0.
    regularization : the ridge parameter lambda of Eq. (10).
    method : "exact", one unknown per distinct state-action pair (per state, for the Dirac kernel);
        "low_rank", all data in the span of a dictionary of states from a pivoted Cholesky;
        "local", all pairs (near-duplicates merged) by an iterative solve that predicts from
        landmarks and near neighbours, for kernels of distances; "subset", the exact solve on the
        newest pairs and a spread of the rest; "auto", exact for the Dirac kernel and for up to
        `max_rank` distinct pairs, else subset.
    tolerance : largest error of the low-rank kernel on its diagonal.
    max_rank : largest number of states in the dictionary, or of pairs in the subset.
    prior : the action value of what was never seen.

    Attributes
    ----------
    states_ : the distinct states seen, in order of appearance.
    n_transitions_ : the number of transitions fitted.
    rank_ : the number of states or pairs that span the model.
    method_ : the method in use.
    parameters_ : the parameters that the last `fit` was called with; they hold until the next.

    Examples
    --------
    Two states; action 1 moves to the other one, which pays in state 0.

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
        prior: float = 0.0,
    ):
        self.kernel = kernel
        self.n_actions = n_actions
        self.regularization = regularization
        self.method = method
        self.tolerance = tolerance
        self.max_rank = max_rank
        self.prior = prior
        self._transitions: Transitions | None = None
        self._solver: Solver | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn asks for them; there are none within them."""
        return {name: getattr(self, name) for name in inspect.signature(WorldModel).parameters}

    def set_params(self, **parameters: Any) -> WorldModel:
        """Set parameters by name; they take effect with the next `fit`."""
        unknown = sorted(set(parameters) - set(self.get_params()))
        if unknown:
            raise ValueError(
                f"WorldModel has no parameter {', '.join(unknown)}: it has "
                f"{', '.join(self.get_params())}"
            )
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit(
        self, states: Rows, actions: Rows, rewards: Rows, next_states: Rows, terminated: Rows
    ) -> WorldModel:
        """Fit to these transitions alone.

        `states` and `next_states` have shape (n, d), or (n,) for integer states; `terminated`
        says where the environment ended, which truncation by a time limit does not count as.
        """
        used = self._checked_parameters()
        columns = check_transitions(
            states, actions, rewards, next_states, terminated, n_actions=used.n_actions
        )
        # The solve waits until it is asked for; bandwidths that do not fit the states do not.
        check_kernel(used.kernel, columns[0].shape[1:])
        self.parameters_ = used
        self.method_ = ""
        self._transitions = Transitions(columns[0].shape[1:], used.n_actions)
        self._solver = None
        return self._add(columns)

    def partial_fit(
        self, states: Rows, actions: Rows, rewards: Rows, next_states: Rows, terminated: Rows
    ) -> WorldModel:
        """Add transitions to those already fitted.

        The outcome is that of one fit to all, but for a low-rank model: that one to its tolerance,
        or to what `max_rank` allows.
        """
        if self._transitions is None:
            return self.fit(states, actions, rewards, next_states, terminated)
        return self._add(
            check_transitions(
                states,
                actions,
                rewards,
                next_states,
                terminated,
                n_actions=self.parameters_.n_actions,
                shape=self._data.index.shape,
            )
        )

    @property
    def states_(self) -> NDArray:
        return self._data.index.states

    @property
    def n_transitions_(self) -> int:
        return self._data.size

    @property
    def rank_(self) -> int:
        return self._ready_solver().rank

    def action_values(self, policy: Policy, gamma: float) -> KernelExpansion | Table:
        """The estimate q of the policy's action values, Prop. 3, as a function of states.

        `policy` maps n states to their (n, n_actions) probabilities, and so does q to values.
        """
        check_gamma(gamma)
        states, used = self.states_, self.parameters_
        probabilities = check_policy(policy(states), len(states), used.n_actions)
        return self.function(self.coefficients(self.solve(probabilities, gamma)), used.prior)

    def reward(self, states: ArrayLike) -> NDArray:
        """The reward estimate r_n(x, a), (n, n_actions)."""
        return self._regress(self._data.pair_reward)(states)

    def expect(
        self, f: StateFunction, states: ArrayLike, *, past_termination: bool = True
    ) -> NDArray:
        """The estimate (T_n f)(x, a) of the mean of f at the next state, (n, n_actions).

        `f` maps n states to n numbers. Without `past_termination` f counts as zero at the state
        in which an episode ends, as values do.
        """
        data = self._data
        counts = data.triple_count if past_termination else data.continuing_count
        values, n_states = np.asarray(f(self.states_), float), len(self.states_)
        if values.shape != (n_states,):
            raise ValueError(
                f"f must return one number per state, an array of shape ({n_states},) for "
                f"{n_states} states, got {values.shape}"
            )
        sums = next_counts(data, counts) @ values
        return self._regress(sums)(states)

    def solve(self, policy: NDArray, gamma: float, regularization: float | None = None) -> NDArray:
        """Weights of the action values for a policy given by its probabilities at `states_`.

        `regularization` replaces that of the model for this solve.
        """
        rewards, solver = self._rewards_above_prior(gamma), self._ready_solver()
        if regularization is None:
            regularization = self.parameters_.regularization
        try:
            return solver.solve(rewards, policy, gamma, regularization)
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"the action values of this policy are not determined (the system of Prop. 3 is "
                f"singular) at gamma {gamma} and regularization {regularization}: "
                "raise the regularization or lower gamma"
            ) from error

    def value_bounds(self, gamma: float) -> tuple[float, float]:
        """The least and the largest discounted sum of rewards that the data allow.

        An episode may end at any time, and what was never seen has the prior.
        """
        low, high = (reward / (1 - gamma) for reward in self._data.reward_range)
        prior = self.parameters_.prior
        return min(low, 0.0, prior), max(high, 0.0, prior)

    def at_states(self, weights: NDArray) -> NDArray:
        """The function of these weights at `states_`: H C of Algorithm 1."""
        return self._ready_solver().at_states(weights)

    def coefficients(self, weights: NDArray) -> NDArray:
        """The weights as coefficients over `states_`: C of Algorithm 1, (states, n_actions)."""
        return self._ready_solver().coefficients(weights)

    def function(self, coefficients: NDArray, offset: float = 0.0) -> KernelExpansion | Table:
        """The function k(x, states_) C + offset, from (n,) or (n, d) states to (n, n_actions)."""
        data, used = self._data, self.parameters_
        return expand(used.kernel, data.index, coefficients, offset)

    @property
    def _data(self) -> Transitions:
        if self._transitions is None:
            raise NotFittedError
        return self._transitions

    def _regress(self, targets: NDArray) -> KernelExpansion | Table:
        weights = self._ready_solver().regress(targets, self.parameters_.regularization)
        return self.function(self.coefficients(weights))

    def _rewards_above_prior(self, gamma: float) -> NDArray:
        """Summed rewards of the residual q - prior: r - prior + gamma (1 - d) prior."""
        data, prior = self._data, self.parameters_.prior
        if prior == 0.0:
            return data.pair_reward
        return data.pair_reward + prior * (gamma * data.pair_continuing - data.pair_count)

    def _add(self, columns: tuple[NDArray, ...]) -> WorldModel:
        self._data.add(*columns)
        used, n_pairs = self.parameters_, len(self._data.pair_state)
        method = choose_method(used.method, used.kernel, n_pairs, used.max_rank)
        if self._solver is None or method != self.method_:
            self.method_ = method
            self._solver = make_solver(
                method, used.kernel, self._data, used.tolerance, used.max_rank
            )
        self._solver_is_stale = True
        if method == "low_rank":
            self._ready_solver()  # its dictionary depends on the portions in which the data came
        return self

    def _ready_solver(self) -> Solver:
        """The solver, brought up to date where the data grew since it was last used."""
        if self._solver is None:
            raise NotFittedError
        if self._solver_is_stale:
            self._solver.update()
            self._solver_is_stale = False
        return self._solver

    def _checked_parameters(self) -> SimpleNamespace:
        check_count(self.n_actions, "n_actions")
        check_positive(self.regularization, "regularization")
        check_not_negative(self.tolerance, "tolerance")
        check_count(self.max_rank, "max_rank")
        check_number(self.prior, "prior")
        check_method(self.method)
        return SimpleNamespace(**self.get_params())
