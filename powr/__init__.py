"""POWR: policy mirror descent with operator world models."""

from powr.agent import POWR

__version__ = "3.0.0"

__all__ = ["POWR"]
