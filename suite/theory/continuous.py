"""An MDP on [0, 1] whose action values are known to quadrature error: the next state has density
2y with probability up(x, a), else 2(1 - y). Two numbers, the mean values under the two densities,
then determine all values, and the transfer operator has rank two (Asm. 1 holds wherever up(., a)
lies in the kernel's space).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

N_ACTIONS = 2
# Midpoints of equal cells: quadrature nodes, and where errors in the uniform norm are taken.
GRID = (np.arange(1024) + 0.5) / 1024


def up(x: NDArray) -> NDArray:
    """Probability of the density 2y, (n, 2)."""
    return np.stack([0.5 + 0.4 * np.sin(2 * np.pi * x), 0.5 + 0.4 * np.cos(3 * np.pi * x)], axis=1)


def reward(x: NDArray) -> NDArray:
    """In [0, 1], (n, 2)."""
    return np.stack([x**2, 0.5 * (1 - x) + 0.2 * np.sin(5 * x) ** 2], axis=1)


def action_values(policy: NDArray, gamma: float) -> NDArray:
    """Eq. (7) on the grid for a policy given on the grid, (nodes, 2)."""
    low, high = np.mean((policy * values_of(0, 0, gamma)).sum(axis=1) * densities(), axis=1)
    rises = (policy * up(GRID)).sum(axis=1)
    stays_up = np.mean(rises * densities(), axis=1)
    onward = np.stack([1 - stays_up, stays_up], axis=1)
    low, high = np.linalg.solve(np.eye(2) - gamma * onward, [low, high])
    return values_of(low, high, gamma)


def densities() -> NDArray:
    return np.stack([2 * (1 - GRID), 2 * GRID])


def values_of(low: float, high: float, gamma: float) -> NDArray:
    """Action values where the two densities have these mean values."""
    return reward(GRID) + gamma * (low + (high - low) * up(GRID))


def sample(n: int, rng: np.random.Generator) -> tuple[NDArray, ...]:
    """n transitions from uniform states and actions, as `WorldModel.fit` takes them."""
    states, actions = rng.uniform(size=n), rng.integers(N_ACTIONS, size=n)
    rises = rng.uniform(size=n) < up(states)[np.arange(n), actions]
    root = np.sqrt(rng.uniform(size=n))
    return (
        states[:, None],
        actions,
        reward(states)[np.arange(n), actions],
        np.where(rises, root, 1 - root)[:, None],
        np.zeros(n, dtype=bool),
    )
