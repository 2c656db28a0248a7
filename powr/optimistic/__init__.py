"""OptimisticPOWR, this project's extension of the paper's algorithm."""

from powr.optimistic.agent import OptimisticPOWR

__all__ = ["OptimisticPOWR"]
