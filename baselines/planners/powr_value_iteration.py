"""POWR whose plans are made by value iteration: Bellman optimality backups until values settle."""

from __future__ import annotations

from powr import POWR
from powr.mirror_descent import VALUE_ITERATION


class ValueIteration(POWR):
    """Each step is greedy in the last action values and backs them up once; equals share."""

    _planning = VALUE_ITERATION
