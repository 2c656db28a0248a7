"""POWR: policy mirror descent with operator world models."""

from powr.agent import POWR

__version__ = "2.0.0"

__all__ = ["POWR"]
