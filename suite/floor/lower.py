"""The lower bound of a finite task: a linear programme that every tour satisfies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from suite.floor.task import END, PRECISION, Task, distances_of, incidence


def lower_bound(task: Task, threshold: float) -> int:
    """Timesteps that no tour can undercut: the optimum of a linear programme that all satisfy.

    Its variables, one per pair or per start or per state:

    - tried: how often the tour tries the pair.
    - begun, cut_off, last: how many episodes begin at a start, are ended at a state by the time
      limit, and stop there because the tour is over.
    - used: 1 if the policy's way from some start uses the pair, else 0.
    - expected: how often the policy takes the pair in an episode, counting those that terminate.
    - endless: 1 if the policy's episode from a start does not terminate, else 0.
    """
    n_starts = int(np.count_nonzero(task.starts))
    n_states, n_pairs = len(task.rewards), task.rewards.size
    programme = _Programme(
        tried=n_pairs,
        begun=n_starts,
        cut_off=n_states,
        last=n_states,
        used=n_pairs,
        expected=n_pairs,
        endless=n_starts,
    )
    _describe_tour(programme, task)
    _describe_policy(programme, task, threshold)
    least = programme.minimum("tried")
    if least is None:
        raise ValueError(f"no policy returns {threshold:g}")
    return int(np.ceil(least - PRECISION * (1 + least)))


def _describe_tour(programme: _Programme, task: Task) -> None:
    n_states, n_pairs = len(task.rewards), task.rewards.size
    leaving, entering, beginning = incidence(task)
    state, pair = sparse.eye_array(n_states), sparse.eye_array(n_pairs)
    # What enters a state or begins there leaves it, or its episode ends there.
    programme.equal(0, tried=leaving - entering, cut_off=state, last=state, begun=-beginning)
    # An episode that the limit ends has had as many steps; one episode can be left unfinished.
    programme.at_most(0, cut_off=np.full((1, n_states), task.horizon), tried=-np.ones((1, n_pairs)))
    programme.at_most(1, last=np.ones((1, n_states)))
    programme.at_most(0, used=pair, tried=-pair)


def _describe_policy(programme: _Programme, task: Task, threshold: float) -> None:
    n_actions, n_pairs = task.rewards.shape[1], task.rewards.size
    starts = np.flatnonzero(task.starts)
    drawn = sparse.diags_array(task.starts[starts])
    leaving, entering, beginning = incidence(task)
    pair = sparse.eye_array(n_pairs)
    programme.at_most(1, used=leaving)
    programme.at_most(-1, used=-beginning.T @ leaving)
    # Starts whose episodes terminate flow through the graph to an end.
    programme.equal(task.starts, expected=leaving - entering, endless=beginning @ drawn)
    # An episode that terminates meets no state twice. So a used pair is taken at most as often as
    # the starts that lead to it are drawn, and at least as often as its own state is drawn.
    drawn_before = task.starts @ np.isfinite(distances_of(task))
    at_most = sparse.diags_array(np.repeat(drawn_before, n_actions))
    programme.at_most(0, expected=pair, used=-at_most)
    each_action = np.ones((n_actions, 1))
    of_starts = sparse.kron(beginning.T, sparse.eye_array(n_actions))
    programme.at_most(
        0,
        used=sparse.kron(drawn, sparse.eye_array(n_actions)) @ of_starts,
        expected=-of_starts,
        endless=-sparse.kron(drawn, each_action),
    )
    returned, possible = _endless_returns(task, threshold)
    programme.at_most(
        -threshold,
        expected=-task.rewards.reshape(1, -1),
        endless=-(returned @ drawn).reshape(1, -1),
    )
    programme.limit(used=1.0, endless=possible)


class _Programme:
    """A linear programme over named vectors that are not negative."""

    def __init__(self, **sizes: int) -> None:
        self._sizes = sizes
        self._highest = {name: np.full(size, np.inf) for name, size in sizes.items()}
        self._equal: list[tuple] = []
        self._at_most: list[tuple] = []

    def equal(self, target: ArrayLike, **factors: Any) -> None:
        """Demand that the sum of factors times vectors equals the target."""
        self._equal.append(self._row(target, factors))

    def at_most(self, target: ArrayLike, **factors: Any) -> None:
        """Demand that the sum of factors times vectors is at most the target."""
        self._at_most.append(self._row(target, factors))

    def limit(self, **highest: ArrayLike) -> None:
        for name, value in highest.items():
            self._highest[name] = np.broadcast_to(value, self._sizes[name])

    def minimum(self, name: str) -> float | None:
        """The least sum of the entries of a vector, None if no vectors fulfil the demands."""
        costs = [np.full(size, float(key == name)) for key, size in self._sizes.items()]
        (A_eq, b_eq), (A_ub, b_ub) = map(self._stack, (self._equal, self._at_most))
        bounds = [(0, highest) for vector in self._highest.values() for highest in vector]
        result = linprog(np.concatenate(costs), A_ub, b_ub, A_eq, b_eq, bounds)
        return result.fun if result.success else None

    def _row(self, target: ArrayLike, factors: dict[str, Any]) -> tuple:
        n_rows = next(iter(factors.values())).shape[0]
        blocks = [
            sparse.csr_array(factors.get(name, (n_rows, size)))
            for name, size in self._sizes.items()
        ]
        return sparse.hstack(blocks), np.broadcast_to(target, n_rows)

    @staticmethod
    def _stack(rows: list[tuple]) -> tuple[sparse.csr_array, NDArray]:
        matrices, targets = zip(*rows, strict=True)
        return sparse.vstack(matrices, format="csr"), np.concatenate(targets)


def _endless_returns(task: Task, threshold: float) -> tuple[NDArray, NDArray]:
    """Per start: the best return of an episode that the limit ends, and whether it may be such.

    It may not if the mean would miss the threshold even with the best episodes from all others.
    """
    best, endless = np.zeros((2, len(task.rewards)))
    for _ in range(task.horizon):
        after, endless_after = (
            np.where(task.next_states == END, at_end, values[task.next_states])
            for values, at_end in ((best, 0.0), (endless, -np.inf))
        )
        best = (task.rewards + after).max(axis=1)
        endless = (task.rewards + endless_after).max(axis=1)
    starts = np.flatnonzero(task.starts)
    lost = task.starts[starts] * (best - endless)[starts]
    possible = task.starts @ best - lost >= threshold - PRECISION
    return np.where(possible, endless[starts], 0.0), possible.astype(float)
