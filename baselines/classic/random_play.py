"""Random play, the baseline that every learner must beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baselines.classic.agent import ClassicAgent, Step


class RandomPlay(ClassicAgent):
    """Takes every action with the same probability, and learns nothing.

    `predict` always samples, since no fixed action represents random play.
    """

    def predict(
        self, observations: ArrayLike, deterministic: bool = False
    ) -> tuple[NDArray[np.integer], None]:
        return super().predict(observations, deterministic=False)

    def _encode(self, observations: ArrayLike) -> NDArray:
        return np.asarray(observations)

    def _values(self, states: NDArray) -> NDArray:
        return np.zeros((len(states), self.n_actions))

    def _update(self, step: Step) -> None:
        pass
