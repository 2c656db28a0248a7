"""OptimisticPOWR, this project's extension of the paper's algorithm."""

from optimistic_powr.agent import OptimisticPOWR

__all__ = ["OptimisticPOWR"]
