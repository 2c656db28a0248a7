"""OptimisticPOWR with policy iteration as planner: mirror descent with infinite step size."""

from __future__ import annotations

from optimistic_powr import OptimisticPOWR
from optimistic_powr.growing_steps import POLICY_ITERATION


class OptimisticPolicyIteration(OptimisticPOWR):
    """Each step is greedy in the exact action values of the last policy; ties are split equally."""

    is_ablation = True
    _planning = POLICY_ITERATION
