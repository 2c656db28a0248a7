"""OptimisticPOWR that plans by policy iteration: mirror descent with infinite steps."""

from __future__ import annotations

from powr import OptimisticPOWR
from powr.optimistic.growing_steps import POLICY_ITERATION


class OptimisticPolicyIteration(OptimisticPOWR):
    """Each step is greedy in the exact action values of the last policy; equals share."""

    is_ablation = True
    _planning = POLICY_ITERATION
