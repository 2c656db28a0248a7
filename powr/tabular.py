"""Exact solutions of a finite MDP: the ground truth that every estimate is judged against.

Action values are Eq. (7), the objective J is Eq. (8), the state visitation measure is
Eq. (A.8), all with sums in place of integrals. Termination makes the transfer operator
substochastic: the reward of the terminating step counts, the value after it is exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import spsolve

from powr.environment import limit_of
from powr.validation import (
    SUM_TOLERANCE,
    check_count,
    check_finite,
    check_gamma,
    check_policy,
)

# Up to this many states a dense solve is the faster one.
_DENSE_STATES = 200


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A finite MDP with S states and A actions.

    A policy is an (S, A) array whose rows are the action probabilities of a state.

    Attributes:
        transitions: sparse (S * A, S); row s * A + a holds the probabilities of the next
            states in which the episode goes on. What a row lacks to 1 is the probability
            that the episode terminates with that step.
        rewards: (S, A), the expected reward of a step, the terminating one included.
        initial_distribution: (S,), the probabilities of the first state.
        horizon: the time limit of an episode in steps, None if there is none.

    >>> mdp = TabularMDP.from_env("FrozenLake-v1")
    >>> round(mdp.optimal_return(), 3)
    0.744
    """

    transitions: sparse.csr_array
    rewards: np.ndarray
    initial_distribution: np.ndarray
    horizon: int | None = None

    def __post_init__(self) -> None:
        rewards = np.asarray(self.rewards, dtype=float)
        initial = np.asarray(self.initial_distribution, dtype=float)
        transitions = sparse.csr_array(self.transitions, dtype=float)
        if rewards.ndim != 2 or rewards.size == 0:
            raise ValueError(f"rewards must have shape (states, actions), not {rewards.shape}")
        check_finite(rewards, "rewards")
        n_states, n_actions = rewards.shape
        for name, array, values, shape in (
            ("transitions", transitions, transitions.data, (n_states * n_actions, n_states)),
            ("initial_distribution", initial, initial, (n_states,)),
        ):
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, not {array.shape}")
            check_finite(values, name)
            if (values < 0).any():
                raise ValueError(f"{name} must not be negative, but hold {values.min():.9g}")
        mass = transitions.sum(axis=1)
        if mass.max() > 1 + SUM_TOLERANCE:
            state, action = divmod(int(mass.argmax()), n_actions)
            raise ValueError(
                f"transitions from state {state} under action {action} sum to {mass.max():.9g}; "
                "at most 1 is possible, less than 1 means termination"
            )
        if abs(initial.sum() - 1) > SUM_TOLERANCE:
            raise ValueError(f"initial_distribution must sum to 1, not {initial.sum():.9g}")
        if self.horizon is not None:
            check_count(self.horizon, "horizon", least=0)
        object.__setattr__(self, "transitions", transitions)
        object.__setattr__(self, "rewards", rewards)
        object.__setattr__(self, "initial_distribution", initial)

    @classmethod
    def from_env(cls, env: gymnasium.Env | str) -> TabularMDP:
        """Read the table `env.unwrapped.P` and the time limit of an environment or its id.

        `P[state][action]` lists (probability, next state, reward, terminated), as FrozenLake,
        Taxi and CliffWalking have it. Wrappers that change rewards are not seen.
        """
        if isinstance(env, str):
            env = gymnasium.make(env)
        table = getattr(env.unwrapped, "P", None)
        initial = getattr(env.unwrapped, "initial_state_distrib", None)
        if table is None or initial is None:
            missing = "P" if table is None else "initial_state_distrib"
            raise ValueError(
                f"{env} has no exact model: env.unwrapped.{missing} is missing; "
                "TabularMDP.from_arrays takes the model as arrays"
            )
        n_states, n_actions = len(table), len(table[0])
        outcomes = [
            (state * n_actions + action, *outcome)
            for state in range(n_states)
            for action in range(n_actions)
            for outcome in table[state][action]
        ]
        pairs, probabilities, next_states, paid, terminated = map(
            np.array, zip(*outcomes, strict=True)
        )
        totals = np.bincount(pairs, probabilities, n_states * n_actions)
        if (wrong := np.abs(totals - 1) > SUM_TOLERANCE).any():
            state, action = divmod(int(wrong.argmax()), n_actions)
            raise ValueError(
                f"P[{state}][{action}] of {env} sums to {totals[wrong][0]:.9g}, must sum to 1"
            )
        rewards = np.bincount(pairs, probabilities * paid).reshape(n_states, n_actions)
        goes_on = ~terminated.astype(bool)
        transitions = sparse.coo_array(
            (probabilities[goes_on], (pairs[goes_on], next_states[goes_on])),
            shape=(n_states * n_actions, n_states),
        )
        return cls(transitions.tocsr(), rewards, initial, limit_of(env))

    @classmethod
    def from_arrays(
        cls,
        transitions: ArrayLike,
        *,
        rewards: ArrayLike,
        initial_distribution: ArrayLike,
        horizon: int | None = None,
    ) -> TabularMDP:
        """Take the model as arrays: transitions of shape (S, A, S), rewards of shape (S, A).

        `transitions[s, a]` may sum to less than 1: what is missing is the probability that
        action a ends the episode in state s.
        """
        transitions = np.asarray(transitions, dtype=float)
        if transitions.ndim != 3 or transitions.shape[0] != transitions.shape[2]:
            raise ValueError(
                f"transitions must have shape (states, actions, states), not {transitions.shape}"
            )
        flat = sparse.csr_array(transitions.reshape(-1, transitions.shape[2]))
        return cls(flat, np.asarray(rewards), np.asarray(initial_distribution), horizon)

    @property
    def n_states(self) -> int:
        return self.rewards.shape[0]

    @property
    def n_actions(self) -> int:
        return self.rewards.shape[1]

    def values(self, policy: ArrayLike, gamma: float) -> np.ndarray:
        """v = P q of Appendix A.3, shape (S,): solves (I - gamma P T) v = P r."""
        check_gamma(gamma)
        transitions, rewards = self._under(policy)
        return _solve_resolvent(transitions, gamma, rewards)

    def action_values(self, policy: ArrayLike, gamma: float) -> np.ndarray:
        """q = (I - gamma T P)^-1 r, Eq. (7), shape (S, A)."""
        return self._look_ahead(gamma * self.values(policy, gamma))

    def optimal_action_values(self, gamma: float) -> np.ndarray:
        """The action values of an optimal policy, shape (S, A), by policy iteration.

        In exact arithmetic each iteration raises the total value until the policy is optimal.
        Iteration ends once rounding hides the rise, which bounds the gap that is left by
        the rounding error over 1 - gamma.
        """
        check_gamma(gamma)
        policy = greedy_policy(self.rewards)
        total = -np.inf
        while True:
            values = self.values(policy, gamma)
            action_values = self._look_ahead(gamma * values)
            if values.sum() <= total:
                return action_values
            total = values.sum()
            policy = greedy_policy(action_values)

    def state_visitation(self, policy: ArrayLike, gamma: float) -> np.ndarray:
        """d = (1 - gamma) (I - gamma P T)^-* nu, Eq. (A.8), shape (S,).

        The discounted share of time spent in each state. It sums to 1 if no episode
        terminates; otherwise to 1 less the discounted share of time after termination.
        """
        check_gamma(gamma)
        transitions, _ = self._under(policy)
        return (1 - gamma) * _solve_resolvent(transitions.T, gamma, self.initial_distribution)

    def objective(self, policy: ArrayLike, gamma: float) -> float:
        """J = <P q, nu>, Eq. (8): the expected discounted return without a time limit."""
        return float(self.initial_distribution @ self.values(policy, gamma))

    def expected_return(self, policy: ArrayLike, horizon: int | None = None) -> float:
        """The expected undiscounted return of an episode of at most `horizon` steps.

        Without `horizon` the time limit of the MDP applies.
        """
        horizon = self._horizon(horizon)
        transitions, rewards = self._under(policy)
        values = np.zeros(self.n_states)
        for _ in range(horizon):
            values = rewards + transitions @ values
        return float(self.initial_distribution @ values)

    def optimal_return(self, horizon: int | None = None) -> float:
        """The largest expected return within `horizon` steps that any policy reaches.

        The policy may depend on the time left; a stationary one can fall short of it.
        """
        values = np.zeros(self.n_states)
        for _ in range(self._horizon(horizon)):
            values = self._look_ahead(values).max(axis=1)
        return float(self.initial_distribution @ values)

    def _look_ahead(self, values: np.ndarray) -> np.ndarray:
        """r + T v, shape (S, A)."""
        return self.rewards + (self.transitions @ values).reshape(self.rewards.shape)

    def _under(self, policy: ArrayLike) -> tuple[sparse.csr_array, np.ndarray]:
        """P T, a sparse (S, S) matrix, and P r, for the policy operator P of Eq. (6)."""
        policy = check_policy(policy, self.n_states, self.n_actions)
        states, actions = np.nonzero(policy)
        operator = sparse.csr_array(
            (policy[states, actions], (states, states * self.n_actions + actions)),
            shape=(self.n_states, self.n_states * self.n_actions),
        )
        return operator @ self.transitions, np.einsum("sa,sa->s", policy, self.rewards)

    def _horizon(self, horizon: int | None) -> int:
        if horizon is None:
            horizon = self.horizon
        if horizon is None:
            raise ValueError("this MDP has no time limit of its own: give a horizon in steps")
        return check_count(horizon, "horizon", least=0)


def greedy_policy(action_values: np.ndarray) -> np.ndarray:
    """The (S, A) policy that takes the first of the best actions in every state."""
    return np.eye(action_values.shape[1])[action_values.argmax(axis=1)]


def _solve_resolvent(transitions: sparse.csr_array, gamma: float, target: np.ndarray) -> np.ndarray:
    """Solve (I - gamma P T) x = target."""
    n_states = len(target)
    if n_states <= _DENSE_STATES:
        return np.linalg.solve(np.eye(n_states) - gamma * transitions.toarray(), target)
    return spsolve(sparse.eye_array(n_states, format="csc") - gamma * transitions.tocsc(), target)
