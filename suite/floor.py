"""The floor: the fewest timesteps after which a learner can be sure of its return.

**What is bounded.** A learner without prior knowledge knows what it has seen a pair (state, action)
do, and nothing about a pair it never tried: that one may lead anywhere and pay anything. It is sure
that its policy meets a threshold once it has tried every pair on the policy's way from every
possible start to the end of the episode, and the returns it so knows have a mean at or above the
threshold. (A policy here takes one action per state.) These are the pairs that the threshold
depends on. The floor is the fewest timesteps in which any learner can have tried them: with the
best policy for it, the best order of the pairs, and the best luck in the starts that are drawn.

**What is not bounded.** A learner may guess right in states it has never seen, and arrive earlier
by luck. A learner that knows more than it tried (that a taxi moves alike wherever the passenger
waits) is sure earlier. Neither is covered.

**A finite deterministic task** is a graph, and the pairs must lie on a tour of it. The tour has
episodes: each begins at a start and ends by termination or at the time limit; the last may stop
anywhere. The shortest tour is hard to find, so it is bounded from both sides.

- `lower_bound` solves a linear programme that every such tour satisfies, so that its optimum is at
  most the shortest tour's length. It can be weak: it allows pairs in fractions and tours in pieces.
- `upper_bound` is the length of a tour that was found. It leads to an optimal policy, so that
  below the optimum there may be a shorter one.

**MountainCar** is no finite graph. Its floor is for a learner that knows how the car moves, but not
where the episode ends: it cannot be sure of any return before it has been at the goal once. That
takes at least the steps of the fastest climb from the best start (`fastest_climb`). The bound is
weak: it counts no step for learning anything else.

Other environments have no floor, and `floor` says why.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import MountainCarEnv
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import shortest_path

from powr.tabular import TabularMDP

END = -1  # the next state of a pair that terminates the episode

# To which the linear programme is solved, and to which a probability is 0 or 1.
_PRECISION = 1e-6

# So near to 1 that an optimal policy of the discounted task is one of the episode's return.
_GAMMA = 0.9999

# Tours tried for the upper bound, which differ in how ties are broken.
_TOURS = 20

# Where MountainCar's episodes begin, at rest; the environment has no attribute that says it.
_CAR_STARTS = (-0.6, -0.4)


class Floor(NamedTuple):
    """Bounds on the fewest timesteps; both are None where there is no floor."""

    lower: int | None
    upper: int | None
    reason: str


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
        certain = transitions.data > 1 - _PRECISION
        if not (certain | (transitions.data < _PRECISION)).all():
            raise ValueError("its steps are random, so no pair is known after one try")
        if mdp.horizon is None:
            raise ValueError("its episodes have no time limit")
        next_states = np.full(mdp.rewards.size, END)
        next_states[transitions.row[certain]] = transitions.col[certain]
        return cls(
            next_states.reshape(mdp.rewards.shape),
            mdp.rewards,
            mdp.initial_distribution,
            mdp.horizon,
        )


def floor(env: gymnasium.Env, threshold: float) -> Floor:
    """The floor of an environment, or the reason why there is none."""
    if isinstance(env.unwrapped, MountainCarEnv):
        lower, upper = fastest_climb(env.unwrapped)
        return Floor(lower, upper, "the goal must have been reached once")
    if not hasattr(env.unwrapped, "P"):
        return Floor(None, None, "it has no table of transitions")
    mdp = TabularMDP.from_env(env)
    try:
        task = Task.of(mdp)
        lower, upper = lower_bound(task, threshold), upper_bound(task, mdp, threshold)
    except ValueError as error:
        return Floor(None, None, str(error))
    return Floor(lower, upper, "all pairs on the policy's way from all starts must be tried")


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
    return int(np.ceil(least - _PRECISION * (1 + least)))


def _describe_tour(programme: _Programme, task: Task) -> None:
    n_states, n_pairs = len(task.rewards), task.rewards.size
    leaving, entering, beginning = _incidence(task)
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
    leaving, entering, beginning = _incidence(task)
    pair = sparse.eye_array(n_pairs)
    programme.at_most(1, used=leaving)
    programme.at_most(-1, used=-beginning.T @ leaving)
    # Starts whose episodes terminate flow through the graph to an end.
    programme.equal(task.starts, expected=leaving - entering, endless=beginning @ drawn)
    # An episode that terminates meets no state twice. So a used pair is taken at most as often as
    # the starts that lead to it are drawn, and at least as often as its own state is drawn.
    at_most = sparse.diags_array(np.repeat(_drawn_before(task), n_actions))
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


def _incidence(task: Task) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Which pairs leave a state, which enter it, and which of the starts it is."""
    n_states, n_actions = task.rewards.shape
    pairs = np.arange(task.rewards.size)
    next_states = task.next_states.ravel()
    goes_on = next_states != END
    starts = np.flatnonzero(task.starts)

    def ones(rows: NDArray, columns: NDArray, n_columns: int) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_states, n_columns))

    return (
        ones(pairs // n_actions, pairs, len(pairs)),
        ones(next_states[goes_on], pairs[goes_on], len(pairs)),
        ones(starts, np.arange(len(starts)), len(starts)),
    )


def _distances(task: Task) -> NDArray:
    """Steps of the shortest way from each state to each, infinite where there is none."""
    leaving, entering, _ = _incidence(task)
    return shortest_path(leaving @ entering.T, unweighted=True)


def _drawn_before(task: Task) -> NDArray:
    """The probability, per state, that the start is one from which it can be reached."""
    return task.starts @ np.isfinite(_distances(task))


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
    possible = task.starts @ best - lost >= threshold - _PRECISION
    return np.where(possible, endless[starts], 0.0), possible.astype(float)


def upper_bound(task: Task, mdp: TabularMDP, threshold: float) -> int:
    """The length of the shortest of some tours that lead to an optimal policy."""
    values = mdp.optimal_action_values(_GAMMA)
    best = values >= values.max(axis=1, keepdims=True) - _PRECISION
    distances = _distances(task)
    lengths = []
    for seed in range(_TOURS):
        length, policy = _tour(task, best, distances, np.random.default_rng(seed))
        reached = mdp.expected_return(policy)
        if reached >= threshold - _PRECISION:
            lengths.append(length)
    if not lengths:
        raise ValueError(f"its best policy returns {reached:g}, less than {threshold:g}")
    return min(lengths)


def _tour(
    task: Task, best: NDArray, distances: NDArray, rng: np.random.Generator
) -> tuple[int, NDArray]:
    """Timesteps until one of the best actions is tried in every state they lead to; the policy.

    An episode begins at the open start that is farthest from an end. It goes on to the nearest
    open state if the way there is at most half the way to an end, and to the end otherwise.
    """
    met, chosen = task.starts > 0, np.full(len(task.starts), -1)
    ends = (task.next_states == END).any(axis=1)
    to_end = distances[:, ends].min(axis=1, initial=np.inf)
    timesteps, clock, state = 0, 0, END
    while (is_open := met & (chosen < 0)).any():
        to_open = distances[:, is_open].min(axis=1)
        if state == END:
            clock, state = 0, _first_state(task, to_open, to_end, rng)
        action = _next_action(task, state, best, met & ~is_open, to_open, to_end, rng)
        if best[state, action] and chosen[state] < 0:
            chosen[state] = action
            _mark_met(task, chosen, met, state)
        timesteps, clock = timesteps + 1, clock + 1
        state = END if clock == task.horizon else task.next_states[state, action]
    return timesteps, np.eye(best.shape[1])[chosen]


def _first_state(task: Task, to_open: NDArray, to_end: NDArray, rng: np.random.Generator) -> int:
    starts = np.flatnonzero(task.starts)
    nearest = starts[to_open[starts] == to_open[starts].min()]
    return int(nearest[(to_end[nearest] + _tie_break(nearest, rng)).argmax()])


def _next_action(
    task: Task,
    state: int,
    best: NDArray,
    settled: NDArray,
    to_open: NDArray,
    to_end: NDArray,
    rng: np.random.Generator,
) -> int:
    next_states = task.next_states[state]
    terminates = next_states == END
    if to_open[state] == 0:
        remaining = np.where(best[state], np.where(terminates, 1, settled[next_states]), np.inf)
    elif to_open[state] <= (to_end[state] + 1) / 2:
        remaining = np.where(terminates, np.inf, to_open[next_states])
    else:
        remaining = np.where(terminates, -1, to_end[next_states])
    return int((remaining + _tie_break(remaining, rng)).argmin())


def _mark_met(task: Task, chosen: NDArray, met: NDArray, state: int) -> None:
    """Mark the states to which the chosen actions lead from a state that is met."""
    while met[state] and chosen[state] >= 0:
        state = task.next_states[state, chosen[state]]
        if state == END or met[state]:
            return
        met[state] = True


def _tie_break(values: NDArray, rng: np.random.Generator) -> NDArray:
    return rng.random(len(values)) / 2


def fastest_climb(car: MountainCarEnv, cells: int = 1000) -> tuple[int, int]:
    """Bounds on the steps of the fastest way to the goal from the best start.

    The state space is cut into cells, `cells` per dimension. For the lower bound a cell is reached
    if any state of a cell reached before may step into it. For the upper bound one state per cell
    is followed, on a true way from a start.
    """
    return _steps_to_goal(car, cells, whole=True), _steps_to_goal(car, cells, whole=False)


def _steps_to_goal(car: MountainCarEnv, cells: int, *, whole: bool) -> int:
    """Steps until the goal is met by boxes of states: whole cells, or boxes that are one state."""
    corner = np.array([[car.min_position], [-car.max_speed]])
    size = (np.array([[car.max_position], [car.max_speed]]) - corner) / cells
    edges = np.linspace(*_CAR_STARTS, cells + 1)
    low = np.stack([edges[:-1], np.zeros(cells)])
    high = np.stack([edges[1:] if whole else edges[:-1], np.zeros(cells)])
    reached = np.zeros(cells**2, bool)
    steps = 0
    while True:
        steps += 1
        low, high = np.concatenate([_push(car, low, high, way) for way in (-1, 0, 1)], axis=2)
        if ((high[0] >= car.goal_position) & (high[1] >= car.goal_velocity)).any():
            return steps
        first, last = (
            np.clip((edge - corner) / size + margin, 0, cells - 1).astype(int)
            for edge, margin in ((low, -_PRECISION), (high, _PRECISION))
        )
        if not whole:
            last = first
        numbers, boxes = _cells_between(first, last, cells)
        box_of = np.full(cells**2, -1)
        box_of[numbers] = boxes
        box_of[reached] = -1
        new = np.flatnonzero(box_of >= 0)
        reached[new] = True
        if whole:
            low = corner + size * np.stack(np.divmod(new, cells))
            high = low + size
        else:
            low = high = low[:, box_of[new]]


def _push(car: MountainCarEnv, low: NDArray, high: NDArray, way: int) -> NDArray:
    """Where a push takes boxes of states, low to high in (position, speed): boxes that hold it."""
    # cos(3x) changes by at most three times as much as x.
    slope, slack = np.cos(1.5 * (low[0] + high[0])), 1.5 * (high[0] - low[0])
    speeds = np.stack([low[1] - car.gravity * slack, high[1] + car.gravity * slack])
    speeds += way * car.force - car.gravity * slope
    speeds = speeds.clip(-car.max_speed, car.max_speed)
    positions = (np.stack([low[0], high[0]]) + speeds).clip(car.min_position, car.max_position)
    # The wall at the left stops the car.
    stopped = positions[::-1] <= car.min_position
    speeds = np.where(stopped, np.maximum(speeds, 0.0), speeds)
    return np.stack([positions, speeds], axis=1)


def _cells_between(first: NDArray, last: NDArray, cells: int) -> tuple[NDArray, NDArray]:
    """The numbers of the cells from `first` to `last`, and to which box of these each belongs."""
    rows, columns = ((last - first).max(axis=1) + 1).tolist()
    numbers = [
        np.minimum(first[0] + i, last[0]) * cells + np.minimum(first[1] + j, last[1])
        for i in range(rows)
        for j in range(columns)
    ]
    return np.concatenate(numbers), np.tile(np.arange(first.shape[1]), len(numbers))
