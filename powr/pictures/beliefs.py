"""What an agent takes to be true, state by state: values, policy, visits and uncertainty.

Everything follows from what a saved agent holds: its transitions, and the plan made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from powr.dynamics import DisplacementModel, ranges, spread
from powr.epochs import EpochPlanner
from powr.kernels import Dirac, diagonal
from powr.mirror_descent import softmax
from powr.planners import Planner
from powr.settings import make_planner
from powr.transitions import Columns, as_columns
from powr.world_model import WorldModel

if TYPE_CHECKING:
    from powr.agent import POWR

ActionValues = Callable[[NDArray, ArrayLike], NDArray]  # of the policy's exponents and the states

# A visit that never happened, of every pair: enough to keep the solve of a table regular.
_HARDLY_A_VISIT = 1e-6

# The most states that the uncertainty in a box is computed from, and its ridge.
_MOST_CENTERS = 800
_RIDGE = 1e-8

# The first timestep of a history: a model of a box needs some transitions.
_FIRST_MOMENT = 20


class Beliefs:
    """Beliefs of a planner after some timesteps; see `beliefs_of`.

    Attributes
    ----------
    timestep : the number of transitions that they rest on.
    columns : these transitions.
    last_episode : the states of the last episode that ended, in order; empty before the first.

    Examples
    --------
    >>> from powr import POWR
    >>> beliefs = beliefs_of(POWR("CliffWalking-v1", seed=0).learn(300))
    >>> beliefs.visits([36])  # the start
    array([20])
    >>> beliefs.values([36]).round(2)
    array([-12.92])
    """

    def __init__(self, planner: Planner, columns: Columns, last_episode: NDArray):
        self.timestep = len(columns[1])
        self.columns = columns
        self.last_episode = last_episode
        self._policy = planner.shown
        self._action_values = action_values_of(planner, columns)
        self._doubt = doubt_of(planner, columns)

    def action_values(self, states: ArrayLike) -> NDArray:
        """The expected discounted return of each action, (n, n_actions)."""
        return self._action_values(self._policy(states), states)

    def probabilities(self, states: ArrayLike) -> NDArray:
        """The policy that `predict` shows, (n, n_actions)."""
        return softmax(self._policy(states))

    def values(self, states: ArrayLike) -> NDArray:
        """The expected discounted return of that policy, (n,)."""
        return self.values_and_probabilities(states)[0]

    def values_and_probabilities(self, states: ArrayLike) -> tuple[NDArray, NDArray]:
        """Both at once, which in a box takes half the time."""
        exponents = self._policy(states)
        probabilities = softmax(exponents)
        return (probabilities * self._action_values(exponents, states)).sum(axis=1), probabilities

    def uncertainty(self, states: ArrayLike) -> NDArray:
        """From 0, all is known, to 1, nothing is, (n,).

        For finite observations the mean over actions of 1 / (1 + visits). In a box the standard
        deviation of the value given the visited states, as a share of what it is without any.
        """
        return self._doubt(states)

    def visits(self, states: ArrayLike) -> NDArray:
        """How often each of n finite states was left, (n,)."""
        seen, counts = np.unique(self.columns[0], return_counts=True)
        states = np.asarray(states)
        place = np.minimum(np.searchsorted(seen, states), len(seen) - 1)
        return np.where(seen[place] == states, counts[place], 0)


def beliefs_of(agent: POWR) -> Beliefs:
    """What an agent believes now."""
    planner = agent._planner
    if planner.planned_at == 0:
        raise ValueError(
            f"the agent has not made a plan yet, after {agent.num_timesteps} timesteps: train it "
            "for longer"
        )
    history = list(agent._collector.transitions())
    columns = as_columns([transition for transition, _ in history])
    return Beliefs(planner, columns, last_episode(history))


def history_of_beliefs(agent: POWR, n_moments: int) -> Iterator[Beliefs]:
    """What an agent believed at some log-spaced timesteps of its training, the last one included.

    Plans are made again from the transitions up to each timestep, which is what training did.
    """
    if agent.summed:
        raise ValueError(
            "an agent whose plans are summed holds its last policy alone, so its beliefs over "
            "training are not known: draw the last ones, or train it without summed"
        )
    history = list(agent._collector.transitions())
    moments = log_spaced(len(history), n_moments)
    planner = make_planner(agent)
    for number, (transition, ended) in enumerate(history, 1):
        planner.observe(transition, ended)
        if number in moments:
            planner.plan()
            seen = history[:number]
            yield Beliefs(planner, as_columns([each for each, _ in seen]), last_episode(seen))


def log_spaced(last: int, n_moments: int) -> set[int]:
    """At most `n_moments` timesteps up to the last one."""
    first = min(_FIRST_MOMENT, last)
    return set(np.geomspace(first, last, n_moments).round().astype(int).tolist()) if last else set()


def last_episode(history: list[tuple[tuple, bool]]) -> NDArray:
    """The states of the last episode that ended."""
    ends = [number for number, (_, ended) in enumerate(history) if ended]
    if not ends:
        return np.empty(0)
    start = ends[-2] + 1 if len(ends) > 1 else 0
    episode = as_columns([transition for transition, _ in history[start : ends[-1] + 1]])
    return np.concatenate([episode[0], episode[3][-1:]])


def action_values_of(planner: Any, columns: Columns) -> ActionValues:
    """The action values of the shown policy in the planner's model, from its exponents."""
    model = planner.model
    if isinstance(model, DisplacementModel):
        if model.is_summed:
            return lambda exponents, states: model.action_values(states)
        return lambda exponents, states: exponents / model.settled.step_size
    if not isinstance(planner, EpochPlanner):
        # Finite states: the empirical MDP, in which what was never tried is the worst there is.
        below, ridge = planner.returns.below_all, _HARDLY_A_VISIT / len(columns[1])
        model = WorldModel(Dirac(), planner.n_actions, regularization=ridge, prior=below)
        model.fit(*columns)
    function = model.action_values(planner.shown.probabilities, planner.gamma)
    return lambda exponents, states: function(states)


def doubt_of(planner: Any, columns: Columns) -> Callable[[ArrayLike], NDArray]:
    """The uncertainty, as a function of states."""
    states, actions, *_ = columns
    if states.ndim == 1:
        return TableDoubt(states, actions, planner.n_actions)
    model = planner.model
    if isinstance(model, DisplacementModel):
        return BoxDoubt(model.kernel, model.centers, model.scale)
    if isinstance(model.kernel, Dirac):
        raise ValueError("a box with the Dirac kernel has no state between those visited")
    visited = model.states_
    chosen = visited[spread(visited / ranges(visited), _MOST_CENTERS)]
    return BoxDoubt(model.kernel, chosen, np.ones(visited.shape[1]))


class TableDoubt:
    """1 / (1 + visits), the mean over actions."""

    def __init__(self, states: NDArray, actions: NDArray, n_actions: int):
        self._seen, rows = np.unique(states, return_inverse=True)
        visits = np.zeros((len(self._seen), n_actions))
        np.add.at(visits, (rows, actions), 1)
        self._doubt = (1.0 / (1.0 + visits)).mean(axis=1)

    def __call__(self, states: ArrayLike) -> NDArray:
        states = np.asarray(states)
        place = np.minimum(np.searchsorted(self._seen, states), len(self._seen) - 1)
        return np.where(self._seen[place] == states, self._doubt[place], 1.0)


class BoxDoubt:
    """The standard deviation of a Gaussian process given its values at some centers."""

    def __init__(self, kernel: Any, centers: NDArray, scale: NDArray):
        self._kernel, self._centers, self._scale = kernel, centers, scale
        gram = kernel(centers, centers)
        gram[np.diag_indices_from(gram)] += _RIDGE
        self._factor = cho_factor(gram)

    def __call__(self, states: ArrayLike) -> NDArray:
        points = np.asarray(states, float) / self._scale
        cross = self._kernel(points, self._centers)
        known = (cross * cho_solve(self._factor, cross.T).T).sum(axis=1) / diagonal(
            self._kernel, points
        )
        return np.sqrt(np.clip(1.0 - known, 0.0, 1.0))
