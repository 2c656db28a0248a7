"""Transitions of a linear system, and the model of a box fitted to some."""

import numpy as np
from optimistic_powr.displacement import DisplacementModel


def linear_system(n=300):
    """Transitions of x' = A x + b_a, ended where |x_1| passes 0.85, every step paid -1; A; b."""
    rng = np.random.default_rng(1000)
    matrix = np.array([[0.95, 0.1], [-0.1, 0.9]])
    pushes = np.array([[0.1, 0.0], [-0.1, 0.05]])
    states = rng.uniform([-0.85, -1.0], [0.85, 1.0], (n, 2))
    actions = rng.integers(2, size=n)
    next_states = states @ matrix.T + pushes[actions]
    terminated = np.abs(next_states[:, 0]) > 0.85
    return (states, actions, -np.ones(n), next_states, terminated), matrix, pushes


def displacement_model(columns, **settings):
    limits = {"gamma": 0.9, "prior": 0.0, "value_range": (-10.0, 0.0)}
    return DisplacementModel(columns, 2, **limits, **settings)
