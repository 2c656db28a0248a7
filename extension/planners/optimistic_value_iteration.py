"""OptimisticPOWR with value iteration as planner: optimality backups until convergence."""

from __future__ import annotations

from optimistic_powr import OptimisticPOWR
from optimistic_powr.growing_steps import VALUE_ITERATION


class OptimisticValueIteration(OptimisticPOWR):
    """Each step applies one optimality backup to the last action values; ties are split equally."""

    is_ablation = True
    _planning = VALUE_ITERATION
