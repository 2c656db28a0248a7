"""What rewards seen so far say about values: the best that is still possible, and the bounds."""

from __future__ import annotations

import heapq
import math

# A reward counts as income, which may recur at every step, once at least as much was paid this
# many times in one episode.
_TIMES = 5


class ReturnRange:
    """The range of discounted returns-to-go over all episodes, the open one included.

    `best` is the value of unvisited pairs: nothing better was ever seen from any state, except that
    a positive reward that came several times in an episode may come at every step. A one-off bonus
    may not.
    """

    def __init__(self, gamma: float):
        self.gamma = gamma
        self._highest, self._lowest = -math.inf, math.inf
        self.income = 0.0
        self.rewards = (math.inf, -math.inf)  # least and largest
        self.has_terminated = False
        self._largest: list[float] = []  # rewards of the open episode, a heap of a few
        self._seen_of_open_episode = 0

    @property
    def best(self) -> float:
        return self.best_and_reason()[0]

    def best_and_reason(self) -> tuple[float, str]:
        """The best return-to-go, and why; where all are equal, something better is assumed."""
        if self._highest == -math.inf:
            return 1.0, "anything above 0, since nothing was seen yet"
        if self._has_income:
            forever = self.income / (1.0 - self.gamma)
            return forever, "the largest repeated reward so far at every step: r_max / (1 - gamma)"
        if self._highest > self._lowest:
            return self._highest, "the best discounted return-to-go seen so far"
        return self._lowest + self._unit, "more than all returns-to-go so far, which are alike"

    @property
    def below_all(self) -> float:
        """Less than any value that rewards allow, however long an episode is in the model.

        Returns of episodes under a time limit do not bound values: costs go on in the model.
        """
        low, high = self.rewards
        if low > high:
            return -self._unit
        least = low / (1.0 - self.gamma) if low < 0.0 or not self.has_terminated else low
        return least - (high - low or self._unit)

    @property
    def best_step(self) -> float | None:
        """What the best step pays that changes nothing, where that is all there is to hope for.

        None where the end of an episode may be what pays, and where all rewards were alike.
        """
        if self._has_income:
            return self.income
        low, high = self.rewards
        return None if self.has_terminated or low >= high else high

    def begin_episode(self) -> None:
        self._largest = []
        self._seen_of_open_episode = 0

    def observe(self, rewards: list[float], ended: bool, terminated: bool) -> None:
        """Take in the last step of an episode, given by all its rewards so far.

        Returns-to-go of an open episode are summed whenever it has grown by half.
        """
        low, high = self.rewards
        self.rewards = (min(low, rewards[-1]), max(high, rewards[-1]))
        self.has_terminated |= terminated
        if not terminated:
            heapq.heappush(self._largest, rewards[-1])
            if len(self._largest) > _TIMES:
                heapq.heappop(self._largest)
            if len(self._largest) == _TIMES:
                self.income = max(self.income, self._largest[0])
        if not ended and len(rewards) < 1.5 * self._seen_of_open_episode:
            return
        self._seen_of_open_episode = 0 if ended else len(rewards)
        to_go = 0.0
        for reward in reversed(rewards):
            to_go = reward + self.gamma * to_go
            self._highest = max(self._highest, to_go)
            self._lowest = min(self._lowest, to_go)

    @property
    def _has_income(self) -> bool:
        return self.income / (1.0 - self.gamma) > max(self._highest, 0.0)

    @property
    def _unit(self) -> float:
        return abs(self._lowest) if self._lowest not in (0.0, math.inf) else 1.0
