"""The floor of a finite deterministic task: the shortest tour of its graph, from both sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import shortest_path

from powr.tabular import TabularMDP

END = -1  # the next state of a pair that terminates the episode
# To which the linear programme is solved, and to which a probability is 0 or 1.
PRECISION = 1e-6
# So near to 1 that an optimal policy of the discounted task is one of the episode's return.
_GAMMA = 0.9999
_TOURS = 20  # tried for the upper bound; they differ in how ties are broken


class Task(NamedTuple):
    """A deterministic finite task: arrays of shape (n_states, n_actions) and (n_states,)."""

    next_states: NDArray
    rewards: NDArray
    starts: NDArray
    horizon: int

    @classmethod
    def of(cls, mdp: TabularMDP) -> Task:
        """The task of an MDP; ValueError if a step of it is random or an episode has no limit."""
        transitions = mdp.transitions.tocoo()
        certain = transitions.data > 1 - PRECISION
        if not (certain | (transitions.data < PRECISION)).all():
            raise ValueError("its steps are random, so no pair is known after one try")
        if mdp.horizon is None:
            raise ValueError("its episodes have no time limit")
        next_states = np.full(mdp.rewards.size, END)
        next_states[transitions.row[certain]] = transitions.col[certain]
        shaped = next_states.reshape(mdp.rewards.shape)
        return cls(shaped, mdp.rewards, mdp.initial_distribution, mdp.horizon)


def incidence(task: Task) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Which pairs leave a state, which enter it, and which of the starts it is."""
    n_states, n_actions = task.rewards.shape
    pairs, starts = np.arange(task.rewards.size), np.flatnonzero(task.starts)
    next_states = task.next_states.ravel()
    goes_on = next_states != END

    def ones(rows: NDArray, columns: NDArray, n_columns: int) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_states, n_columns))

    return (
        ones(pairs // n_actions, pairs, len(pairs)),
        ones(next_states[goes_on], pairs[goes_on], len(pairs)),
        ones(starts, np.arange(len(starts)), len(starts)),
    )


def distances_of(task: Task) -> NDArray:
    """Steps of the shortest way from each state to each, infinite where there is none."""
    leaving, entering, _ = incidence(task)
    return shortest_path(leaving @ entering.T, unweighted=True)


def lower_bound(task: Task, threshold: float) -> int:
    """Timesteps that no tour can undercut: the optimum of a linear programme that all satisfy.

    Its variables, none of them negative, one per pair or per start or per state:

    - tried: how often the tour tries the pair.
    - begun, cut_off, last: how many episodes begin at a start, are ended at a state by the time
      limit, and stop there because the tour is over.
    - used: 1 if the policy's way from some start uses the pair, else 0.
    - expected: how often the policy takes the pair in an episode, counting those that terminate.
    - endless: 1 if the policy's episode from a start does not terminate, else 0.
    """
    (n_states, n_actions), n_pairs = task.rewards.shape, task.rewards.size
    starts = np.flatnonzero(task.starts)
    sizes = {"tried": n_pairs, "begun": len(starts), "cut_off": n_states, "last": n_states}
    sizes |= {"used": n_pairs, "expected": n_pairs, "endless": len(starts)}

    def row(target: ArrayLike, **factors: Any) -> tuple[sparse.sparray, NDArray]:
        """Factors of the variables, and what their sum equals or does not exceed."""
        n_rows = next(iter(factors.values())).shape[0]
        blocks = [
            sparse.csr_array(factors.get(name, (n_rows, size))) for name, size in sizes.items()
        ]
        return sparse.hstack(blocks), np.broadcast_to(target, n_rows)

    leaving, entering, beginning = incidence(task)
    state, pair, action = map(sparse.eye_array, (n_states, n_pairs, n_actions))
    drawn = sparse.diags_array(task.starts[starts])
    of_starts = sparse.kron(beginning.T, action)
    drawn_before = task.starts @ np.isfinite(distances_of(task))
    returned, possible = _endless_returns(task, threshold)
    equal = [
        # What enters a state or begins there leaves it, or its episode ends there.
        row(0, tried=leaving - entering, cut_off=state, last=state, begun=-beginning),
        # Starts whose episodes terminate flow through the graph to an end.
        row(task.starts, expected=leaving - entering, endless=beginning @ drawn),
    ]
    at_most = [
        # An episode that the limit ends has had as many steps; one episode can be left unfinished.
        row(0, cut_off=np.full((1, n_states), task.horizon), tried=-np.ones((1, n_pairs))),
        row(1, last=np.ones((1, n_states))),
        row(0, used=pair, tried=-pair),
        # The policy takes at most one action in a state, and one at a start.
        row(1, used=leaving),
        row(-1, used=-beginning.T @ leaving),
        # An episode that terminates meets no state twice. So a used pair is taken at most as often
        # as the starts that lead to it are drawn, and at least as often as its state is drawn.
        row(0, expected=pair, used=-sparse.diags_array(np.repeat(drawn_before, n_actions))),
        row(
            0,
            used=sparse.kron(drawn, action) @ of_starts,
            expected=-of_starts,
            endless=-sparse.kron(drawn, np.ones((n_actions, 1))),
        ),
        row(
            -threshold,
            expected=-task.rewards.reshape(1, -1),
            endless=-(returned @ drawn).reshape(1, -1),
        ),
    ]
    (A_eq, b_eq), (A_ub, b_ub) = (
        (sparse.vstack(matrices, format="csr"), np.concatenate(targets))
        for matrices, targets in (zip(*rows, strict=True) for rows in (equal, at_most))
    )
    limits = {"used": np.ones(n_pairs), "endless": possible}
    highest = [limits.get(name, np.full(size, np.inf)) for name, size in sizes.items()]
    bounds = [(0, high) for high in np.concatenate(highest)]
    cost = np.repeat([float(name == "tried") for name in sizes], list(sizes.values()))
    result = linprog(cost, A_ub, b_ub, A_eq, b_eq, bounds)
    if not result.success:
        raise ValueError(f"no policy returns {threshold:g}")
    return int(np.ceil(result.fun - PRECISION * (1 + result.fun)))


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


def upper_bound(task: Task, mdp: TabularMDP, threshold: float) -> int:
    """The length of the shortest of some tours that lead to an optimal policy."""
    values = mdp.optimal_action_values(_GAMMA)
    best = values >= values.max(axis=1, keepdims=True) - PRECISION
    distances = distances_of(task)
    tours = [_tour(task, best, distances, np.random.default_rng(seed)) for seed in range(_TOURS)]
    reached = [mdp.expected_return(policy) for _, policy in tours]
    if max(reached) < threshold - PRECISION:
        raise ValueError(f"its best policy returns {max(reached):g}, less than {threshold:g}")
    return min(
        length
        for (length, _), found in zip(tours, reached, strict=True)
        if found >= threshold - PRECISION
    )


def _tour(
    task: Task, best: NDArray, distances: NDArray, rng: np.random.Generator
) -> tuple[int, NDArray]:
    """Timesteps until one of the best actions is tried in every state they lead to; the policy.

    An episode begins at the open start that is farthest from an end. It goes on to the nearest
    open state if the way there is at most half the way to an end, and to the end otherwise.
    """
    met, chosen = task.starts > 0, np.full(len(task.starts), -1)
    starts, ends = np.flatnonzero(task.starts), (task.next_states == END).any(axis=1)
    to_end = distances[:, ends].min(axis=1, initial=np.inf)
    timesteps, clock, state = 0, 0, END
    while (is_open := met & (chosen < 0)).any():
        to_open = distances[:, is_open].min(axis=1)
        if state == END:
            nearest = starts[to_open[starts] == to_open[starts].min()]
            farthest = to_end[nearest] + rng.random(len(nearest)) / 2  # ties are broken
            clock, state = 0, int(nearest[farthest.argmax()])
        next_states = task.next_states[state]
        terminates = next_states == END
        if to_open[state] == 0:
            settled = (met & ~is_open)[next_states]
            remaining = np.where(best[state], np.where(terminates, 1, settled), np.inf)
        elif to_open[state] <= (to_end[state] + 1) / 2:
            remaining = np.where(terminates, np.inf, to_open[next_states])
        else:
            remaining = np.where(terminates, -1, to_end[next_states])
        action = int((remaining + rng.random(len(remaining)) / 2).argmin())
        if best[state, action] and chosen[state] < 0:
            chosen[state] = action
            # Mark the states to which the chosen actions lead as met.
            after = state
            while met[after] and chosen[after] >= 0:
                after = task.next_states[after, chosen[after]]
                if after == END or met[after]:
                    break
                met[after] = True
        timesteps, clock = timesteps + 1, clock + 1
        state = END if clock == task.horizon else next_states[action]
    return timesteps, np.eye(best.shape[1])[chosen]
