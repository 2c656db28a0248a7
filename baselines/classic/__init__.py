"""Algorithms for small problems, without neural networks."""
