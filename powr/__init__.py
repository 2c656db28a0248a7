"""POWR: policy mirror descent with operator world models."""

__version__ = "0.1.0"
