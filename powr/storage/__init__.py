"""Agents as files: one `.npz` of plain arrays and JSON, and nothing executable.

A file holds settings, data, policy and random state, so that a loaded agent continues as the saved
one would. Nothing that a file names is imported: environments are made by their ids, kernels by a
name from a fixed list.
"""

from powr.storage.agents import algorithm_of, load, save

__all__ = ["algorithm_of", "load", "save"]
