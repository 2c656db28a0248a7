"""POWR whose plans are made by policy iteration: mirror descent with infinite steps."""

from __future__ import annotations

from powr import POWR
from powr.mirror_descent import POLICY_ITERATION


class PolicyIteration(POWR):
    """Each step is greedy in the exact action values of the last policy; equals share."""

    _planning = POLICY_ITERATION
