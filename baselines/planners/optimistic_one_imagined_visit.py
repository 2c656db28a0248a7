"""OptimisticPOWR with one imagined visit per pair where outcomes vary, and never more."""

from __future__ import annotations

from powr import OptimisticPOWR


class OptimisticOneImaginedVisit(OptimisticPOWR):
    """Its optimism about a pair fades with the pair's visits and never comes back."""

    is_ablation = True
    _imagined_per_log_visits = 0.0
