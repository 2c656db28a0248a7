"""Tasks of operations with finitely many states: orders, machines, queues, and prices.

Every task is a table `P` as Gymnasium's toy texts have it, so that `TabularMDP.from_env` computes
the best return that any policy reaches. OptimisticPOWR was not developed on the parameters that
`tasks` registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete


class Outcome(NamedTuple):
    """One way in which a step may end; states are numbered in row-major order."""

    probability: float
    next_state: int
    reward: float
    terminated: bool = False


class TableEnv(gymnasium.Env):
    """An environment that draws each step from its table.

    Args:
        shape: number of values of each part of an observation; one part alone is an integer.
        table: by state and action, the outcomes of a step.
        start: probabilities of the first state.
    """

    def __init__(
        self, shape: tuple[int, ...], table: list[list[list[Outcome]]], start: np.ndarray
    ) -> None:
        self.shape = shape
        self.observation_space = Discrete(*shape) if len(shape) == 1 else MultiDiscrete(shape)
        self.action_space = Discrete(len(table[0]))
        self.P = {state: dict(enumerate(actions)) for state, actions in enumerate(table)}
        self.initial_state_distrib = start

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self._draw(self.initial_state_distrib)
        return self._observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        outcomes = self.P[self.state][action]
        outcome = outcomes[self._draw([each.probability for each in outcomes])]
        self.state = outcome.next_state
        return self._observation(), float(outcome.reward), outcome.terminated, False, {}

    def _draw(self, probabilities: Iterable[float]) -> int:
        cumulative = np.cumsum(probabilities)
        return int(np.searchsorted(cumulative[:-1], self.np_random.random(), side="right"))

    def _observation(self) -> Any:
        if len(self.shape) == 1:
            return self.state
        return np.array(np.unravel_index(self.state, self.shape))


class Inventory(TableEnv):
    """Order goods before a random demand; what is left is held at a cost, what lacks is missed.

    The observation is the stock, the action the number of units to order, which arrive at once.
    Units beyond `capacity` are lost. Every reward is a cost with a minus sign.

    Args:
        capacity: largest stock.
        largest_order: in units.
        demand: mean of its Poisson distribution.
        order, unit, held, missed: costs of an order, of a unit ordered, held, and missed.
    """

    def __init__(
        self,
        capacity: int,
        largest_order: int,
        demand: float,
        order: float,
        unit: float,
        held: float,
        missed: float,
    ) -> None:
        demands = poisson(demand)

        def outcomes(stock: int, ordered: int) -> list[Outcome]:
            cost = order * (ordered > 0) + unit * ordered
            filled = min(stock + ordered, capacity)
            return [
                Outcome(
                    probability,
                    max(filled - wanted, 0),
                    -(cost + held * max(filled - wanted, 0) + missed * max(wanted - filled, 0)),
                )
                for wanted, probability in enumerate(demands)
            ]

        table = [
            [outcomes(stock, ordered) for ordered in range(largest_order + 1)]
            for stock in range(capacity + 1)
        ]
        super().__init__((capacity + 1,), table, at_first(capacity + 1))


class Maintenance(TableEnv):
    """Run, service or replace a machine that earns less and breaks more often as it wears.

    The observation is the wear; at the largest the machine is broken: it earns nothing until it is
    replaced, at twice the price.

    Args:
        levels: values of the wear.
        income: of a step in which a new machine runs; each level of wear takes one off.
        breaks: probability per level of wear that running breaks the machine.
        service: price of taking three levels of wear off.
        replacement: price of a new machine.
    """

    RUN, SERVICE, REPLACE = range(3)

    def __init__(
        self, levels: int, income: float, breaks: float, service: float, replacement: float
    ) -> None:
        broken = levels - 1

        def run(wear: int) -> list[Outcome]:
            if wear == broken:
                return [Outcome(1.0, broken, 0.0)]
            breaking = min(breaks * wear, 1.0)
            wears_on = [
                Outcome((1 - breaking) * probability, min(wear + by, broken - 1), income - wear)
                for by, probability in enumerate((0.3, 0.5, 0.2))
            ]
            return [*wears_on, Outcome(breaking, broken, 0.0)]

        table = [
            [
                run(wear),
                [Outcome(1.0, wear if wear == broken else max(wear - 3, 0), -service)],
                [Outcome(1.0, 0, -replacement * (2 if wear == broken else 1))],
            ]
            for wear in range(levels)
        ]
        super().__init__((levels,), table, at_first(levels))


class QueueAdmission(TableEnv):
    """Refuse or admit customers of several classes to a queue with one server.

    The observation is the length of the queue and the class of the customer who arrives. Whoever is
    admitted pays at once, unless the queue is full; everybody in it costs `waiting` per step; one
    is served with probability `served`.

    Args:
        room: places in the queue.
        fees: what a customer of each class pays.
        shares: probability of each class.
        served: probability that a customer is served in a step.
        waiting: cost per customer and step.
    """

    REFUSE, ADMIT = range(2)

    def __init__(
        self,
        room: int,
        fees: tuple[float, ...],
        shares: tuple[float, ...],
        served: float,
        waiting: float,
    ) -> None:
        shape = (room + 1, len(fees))

        def outcomes(length: int, kind: int, action: int) -> list[Outcome]:
            enters = action == self.ADMIT and length < room
            length += enters
            reward = fees[kind] * enters - waiting * length
            lengths = [(max(length - 1, 0), served), (length, 1 - served)]
            return [
                Outcome(probability * share, number(shape, left, next_kind), reward)
                for left, probability in lengths
                for next_kind, share in enumerate(shares)
            ]

        table = [
            [outcomes(length, kind, action) for action in range(2)]
            for length, kind in np.ndindex(*shape)
        ]
        start = np.zeros(shape)
        start[0] = shares
        super().__init__(shape, table, start.ravel())


class Pricing(TableEnv):
    """Sell seats one by one: at a higher price a customer buys less often.

    The observation is the number of seats left; action a asks the price a + 1. In every step one
    customer comes and buys with probability 1 / (1 + exp((price - middle) / spread)). The episode
    ends when all seats are sold.

    Args:
        seats: at first.
        prices: number of prices.
        middle: the price at which half of the customers buy.
        spread: how much prices that customers accept differ.
    """

    def __init__(self, seats: int, prices: int, middle: float, spread: float) -> None:
        def outcomes(left: int, price: int) -> list[Outcome]:
            buys = 1 / (1 + math.exp((price - middle) / spread)) if left else 0.0
            sold = Outcome(buys, max(left - 1, 0), float(price), left == 1)
            return [sold, Outcome(1 - buys, left, 0.0)]

        table = [
            [outcomes(left, price) for price in range(1, prices + 1)] for left in range(seats + 1)
        ]
        super().__init__((seats + 1,), table, at_first(seats + 1)[::-1])


def poisson(mean: float) -> np.ndarray:
    """Probabilities of 0, 1, ...; what is left of the tail, less than 1e-6, is the last one's."""
    probabilities = [math.exp(-mean)]
    while sum(probabilities) < 1 - 1e-6:
        probabilities.append(probabilities[-1] * mean / len(probabilities))
    return np.array([*probabilities, 1 - sum(probabilities)])


def at_first(n_states: int) -> np.ndarray:
    """All episodes start in state 0."""
    return np.eye(n_states)[0]


def number(shape: tuple[int, ...], *parts: int) -> int:
    return int(np.ravel_multi_index(parts, shape))
