"""OptimisticPOWR that plans by value iteration: optimality backups until values settle."""

from __future__ import annotations

from powr import OptimisticPOWR
from powr.optimistic.growing_steps import VALUE_ITERATION


class OptimisticValueIteration(OptimisticPOWR):
    """Each step is greedy in the last action values and backs them up once; equals share."""

    is_ablation = True
    _planning = VALUE_ITERATION
