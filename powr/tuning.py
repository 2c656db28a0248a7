"""The bandwidth and the regularization by cross-validation, for logged data with box states."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from powr.kernels import Exponential, Kernel, Stationary
from powr.validation import check_count, check_transitions
from powr.world_model import Score, WorldModel


class Trial(NamedTuple):
    """A kernel and a regularization, with the mean of their scores on the folds held out."""

    kernel: Kernel
    regularization: float
    score: Score

    @property
    def error(self) -> float:
        return self.score.reward + self.score.next_state


def search(
    states: ArrayLike,
    actions: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    terminated: ArrayLike,
    *,
    n_actions: int,
    kernel: type[Stationary] = Exponential,
    bandwidths: Sequence[float] = (0.03, 0.1, 0.33, 1.0, 3.0),
    regularizations: Sequence[float] = (1e-6, 1e-4, 1e-2),
    folds: int = 3,
    seed: int = 0,
    **settings: Any,
) -> list[Trial]:
    """Settings of a world model by what they predict on held-out transitions, the best first.

    Parameters
    ----------
    states, actions, rewards, next_states, terminated
        As for `WorldModel.fit`; states are rows of numbers.
    n_actions : int
    kernel : type, default=Exponential
    bandwidths : sequence of float
        Tried bandwidths, in units of the range of each dimension.
    regularizations : sequence of float
    folds : int, default=3
        Parts of the data, each held out once.
    seed : int
        Seeds the assignment of transitions to folds.
    **settings
        Further settings of the `WorldModel`, such as `max_rank`.
    """
    given = (states, actions, rewards, next_states, terminated)
    columns = check_transitions(*given, n_actions=n_actions)
    if columns[0].ndim == 1:
        raise ValueError(
            "states are integers, whose kernel is Dirac: there is no bandwidth to find"
        )
    if not 2 <= check_count(folds, "folds") <= len(columns[0]):
        raise ValueError(f"folds must lie between 2 and the {len(columns[0])} rows, got {folds}")
    spread = np.ptp(columns[0], axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    fold = np.random.default_rng(seed).permutation(len(columns[0])) % folds
    trials = []
    for bandwidth, regularization in itertools.product(bandwidths, regularizations):
        chosen, scores = kernel(bandwidth * spread), []
        for held_out in range(folds):
            model = WorldModel(chosen, n_actions, regularization=regularization, **settings)
            model.fit(*(column[fold != held_out] for column in columns))
            scores.append(model.score(*(column[fold == held_out] for column in columns)))
        mean = Score(*np.mean(scores, axis=0).tolist())
        trials.append(Trial(chosen, regularization, mean))
    return sorted(trials, key=lambda trial: trial.error)
