"""The data (x_i, a_i, r_i, x'_i, d_i): as it was collected, and as counts of distinct pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# States, actions, rewards, next states, terminated: one row per transition.
Columns = tuple[NDArray, NDArray, NDArray, NDArray, NDArray]


class History:
    """All transitions of an agent in the order of collection: the only copy it keeps.

    Parameters
    ----------
    state_shape : tuple of int
        () for integer states, (d,) for vectors.

    Attributes
    ----------
    size : int
        Number of transitions.
    starts : list of int
        Row of the first transition of each episode, an episode left open included.
    """

    def __init__(self, state_shape: tuple[int, ...]):
        self.state_shape = state_shape
        self.size = 0
        self.starts: list[int] = []
        states = np.empty((0, *state_shape), float if state_shape else int)
        actions, rewards, *flags = (np.empty(0, kind) for kind in (int, float, bool, bool))
        self._buffers: list[NDArray] = [states, actions, rewards, states, *flags]

    def begin_episode(self) -> None:
        if not self.starts or self.starts[-1] < self.size:
            self.starts.append(self.size)

    def append(self, transition: tuple, ended: bool) -> None:
        """Add (state, action, reward, next state, terminated); `ended` also by truncation."""
        row = self.size
        if row == len(self._buffers[1]):
            room = max(1024, 3 * row // 2)
            self._buffers = [
                np.resize(buffer, (room, *buffer.shape[1:])) for buffer in self._buffers
            ]
        for buffer, value in zip(self._buffers, (*transition, ended), strict=True):
            buffer[row] = value
        self.size = row + 1  # last, so that an interrupt cannot leave half a transition

    def extend(self, columns: Columns, ended: NDArray, starts: list[int]) -> None:
        """Take over whole arrays, as read from a file."""
        self._buffers = [np.array(column) for column in (*columns, ended)]
        self.size, self.starts = len(ended), starts

    def columns(self, start: int = 0, stop: int | None = None) -> Columns:
        """Views of the transitions from `start` up to `stop`."""
        rows = slice(start, self.size if stop is None else stop)
        states, actions, rewards, next_states, terminated, _ = self._buffers
        return states[rows], actions[rows], rewards[rows], next_states[rows], terminated[rows]

    @property
    def ended(self) -> NDArray:
        """Whether each transition was the last of its episode, by termination or truncation."""
        return self._buffers[5][: self.size]

    def episodes(self) -> list[tuple[int, int]]:
        """First row and one past the last row of each finished episode."""
        stops = [*self.starts[1:], self.size]
        ended = self.ended
        return [
            (start, stop)
            for start, stop in zip(self.starts, stops, strict=False)  # no start, no stop
            if stop > start and ended[stop - 1]
        ]


class StateIndex:
    """Numbers distinct states 0, 1, ... in the order in which they are first seen.

    A state is an integer where `shape` is (), a row of d floats where it is (d,).
    """

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self._number: dict = {}
        self.states: NDArray = np.empty((0, *shape), float if shape else int)

    def __len__(self) -> int:
        return len(self.states)

    def number(self, states: NDArray) -> NDArray:
        """The number of each state, giving new ones to states not seen before."""
        numbers = _number_all(self._number, self._keys(states))
        if len(new := _first_positions(numbers, len(self))) > 0:
            self.states = np.concatenate([self.states, states[new]])
        return numbers

    def find(self, states: NDArray, missing: int) -> NDArray:
        """The number of each state, `missing` for states never seen."""
        return np.array([self._number.get(key, missing) for key in self._keys(states)], int)

    def find_one(self, state: int | NDArray, missing: int) -> int:
        """The number of one state, `missing` where it was never seen."""
        if self.shape == ():
            return self._number.get(state, missing)
        return int(self.find(np.asarray(state)[None], missing)[0])

    def _keys(self, states: NDArray) -> list:
        if self.shape == ():
            return states.tolist()
        states = states + 0.0  # -0.0 equals 0.0 and must hash alike
        step, data = states.itemsize * self.shape[0], states.tobytes()
        return [data[i : i + step] for i in range(0, len(data), step)]


class Counts:
    """Transitions as counts of distinct states, pairs and triples.

    Transitions that share (x, a) enter every estimator of the paper only through their number,
    their summed reward and the counts of their next states, so nothing is lost by collapsing them.
    Pair g is a distinct (state, action) with its count, the count of those that did not terminate,
    and its summed rewards; triple t is a distinct (pair, next state, terminated) with its count.
    """

    def __init__(self, state_shape: tuple[int, ...], n_actions: int):
        self.index = StateIndex(state_shape)
        self.n_actions = n_actions
        self.size = 0
        self.reward_range = (math.inf, -math.inf)
        self._pair_number: dict[int, int] = {}
        self._triple_number: dict[int, int] = {}
        self.pair_state, self.pair_action = np.zeros((2, 0), int)
        self.pair_count, self.pair_continuing, self.pair_reward = np.zeros((3, 0))
        self.triple_pair, self.triple_next = np.zeros((2, 0), int)
        self.triple_terminated, self.triple_count = np.zeros(0, bool), np.zeros(0)

    @property
    def continuing_count(self) -> NDArray:
        """Counts of the triples times (1 - d): nothing follows a terminated transition."""
        return np.where(self.triple_terminated, 0.0, self.triple_count)

    def next_counts(self, counts: NDArray) -> csr_array:
        """Counts of the triples as a sparse (pairs, states) matrix."""
        shape = (len(self.pair_state), len(self.index))
        return csr_array((counts, (self.triple_pair, self.triple_next)), shape=shape)

    def add(
        self,
        states: NDArray,
        actions: NDArray,
        rewards: NDArray,
        next_states: NDArray,
        terminated: NDArray,
    ) -> None:
        numbers = self.index.number(interleaved(states, next_states))
        x, successor = numbers[0::2], numbers[1::2]

        # A triple as one integer, which hashes quicker than a tuple.
        keys = ((x * self.n_actions + actions) << 32) + (successor << 1) + terminated
        triples = _number_all(self._triple_number, keys.tolist())
        new = _first_positions(triples, len(self.triple_pair))
        if len(new) > 0:
            pairs = self._pairs(x[new], actions[new])
            self.triple_pair = np.concatenate([self.triple_pair, pairs])
            self.triple_next = np.concatenate([self.triple_next, successor[new]])
            self.triple_terminated = np.concatenate([self.triple_terminated, terminated[new]])
            self.triple_count = np.concatenate([self.triple_count, np.zeros(len(new))])
        pairs = self.triple_pair[triples]
        np.add.at(self.triple_count, triples, 1.0)
        np.add.at(self.pair_count, pairs, 1.0)
        np.add.at(self.pair_continuing, pairs, 1.0 - terminated)
        np.add.at(self.pair_reward, pairs, rewards)
        low, high = self.reward_range
        self.reward_range = (min(low, float(rewards.min())), max(high, float(rewards.max())))
        self.size += len(actions)

    def _pairs(self, states: NDArray, actions: NDArray) -> NDArray:
        """The numbers of pairs, with room for those not seen before."""
        pairs = _number_all(self._pair_number, (states * self.n_actions + actions).tolist())
        new = _first_positions(pairs, len(self.pair_state))
        self.pair_state = np.concatenate([self.pair_state, states[new]])
        self.pair_action = np.concatenate([self.pair_action, actions[new]])
        for name in ("pair_count", "pair_continuing", "pair_reward"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(len(new))]))
        return pairs


def interleaved(states: NDArray, next_states: NDArray) -> NDArray:
    """The states of a trajectory in the order in which it visits them, each end a next start."""
    return np.stack([states, next_states], axis=1).reshape(-1, *states.shape[1:])


def _number_all(known: dict, keys: list) -> NDArray:
    return np.array([known.setdefault(key, len(known)) for key in keys], int)


def _first_positions(numbers: NDArray, n_known: int) -> NDArray:
    """Where each number from n_known on occurs first; numbers are given in order of appearance."""
    highest_before = np.maximum.accumulate(np.concatenate([[n_known - 1], numbers[:-1]]))
    return np.flatnonzero(numbers > highest_before)
