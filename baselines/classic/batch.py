"""The base class of peers for Box observations that plan on all data after an episode."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import gymnasium

from baselines.classic.agent import Step, check_constant
from baselines.classic.box import BoxAgent


class BatchAgent(BoxAgent):
    """An agent that plans at the end of an episode if its data have grown by a factor 1 + `growth`.

    A subclass implements `_store`, `_n_stored` and `_plan`.
    """

    def __init__(self, env: gymnasium.Env, *, seed: int, growth: float, **options: Any) -> None:
        super().__init__(env, seed=seed, **options)
        self.growth = check_constant("growth", growth, 0)
        self._n_planned = 0

    def _update(self, step: Step) -> None:
        self._store(step)
        grown = self._n_stored() > (1 + self.growth) * self._n_planned
        if grown and (step.terminated or step.truncated):
            self._plan()
            self._n_planned = self._n_stored()

    @abstractmethod
    def _store(self, step: Step) -> None:
        """Add the step to the data."""

    @abstractmethod
    def _n_stored(self) -> int:
        """The number of stored points."""

    @abstractmethod
    def _plan(self) -> None:
        """Compute action values from the data."""
