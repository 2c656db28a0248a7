"""OptimisticPOWR with exactly one imagined visit per pair if outcomes vary."""

from __future__ import annotations

from optimistic_powr import OptimisticPOWR


class OptimisticOneImaginedVisit(OptimisticPOWR):
    """Its optimism about a pair decays with the pair's visits and is never renewed."""

    is_ablation = True
    _imagined_per_log_visits = 0.0
