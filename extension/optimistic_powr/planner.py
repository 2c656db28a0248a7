"""What the planners share: settings, and the range of returns from which optimism follows.

A plan is mirror descent on all data from the uniform policy, so what a planner knows is a function
of the transitions alone. Behaviour is optimistic: an unvisited state-action pair is worth the best
return seen so far, or r_max / (1 - gamma). The target policy, which `predict` shows, is cautious:
for finite observations unvisited pairs are worse than any observed return, in a box what lies far
from the data is worth the least value of all visited states.
"""

from __future__ import annotations

from typing import Any

from optimistic_powr.growing_steps import MIRROR_DESCENT, Planning
from optimistic_powr.returns import ReturnRange
from powr.data import History


class Planner:
    """Settings, the returns seen, and the policy that acts.

    Parameters
    ----------
    history : History
        The agent's data, which grows.
    n_actions : int
    gamma, prior, step_size, mirror_steps, plan_within_episodes, cautious
        See `OptimisticPOWR`.
    planning : Planning

    Attributes
    ----------
    policy : Policy
        The policy that acts.
    plan_times : list of int
        Numbers of transitions at the plans from which the planner can be made again.
    """

    def __init__(
        self,
        history: History,
        n_actions: int,
        *,
        gamma: float,
        prior: float | None,
        step_size: float | None,
        mirror_steps: int | None,
        plan_within_episodes: bool,
        cautious: bool = True,
        planning: Planning = MIRROR_DESCENT,
    ):
        self.history = history
        self.n_actions, self.gamma, self.prior = n_actions, gamma, prior
        self._steps: dict[str, Any] = {"step_size": step_size, "mirror_steps": mirror_steps}
        self._within, self._cautious = plan_within_episodes, cautious
        self._planning = planning
        self.returns = ReturnRange(gamma)
        self.plan_times: list[int] = []
        self._size = 0
        self._starts: list[int] = []  # first rows of the episodes
        self._rewards: list[float] = []  # of the episode under way

    def begin_episode(self) -> None:
        self._starts.append(self._size)
        self._rewards = []
        self.returns.begin_episode()

    @property
    def _optimistic_prior(self) -> float:
        return self.returns.best if self.prior is None else self.prior

    def health(self, time_limit: int | None) -> dict[str, float]:
        """Facts for `powr.health`, by name."""
        return {}
