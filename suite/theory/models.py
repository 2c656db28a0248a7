"""The MDPs of the theory's tables, and i.i.d. data from them as Thm. 9 assumes it.

Beside the finite ones there is an MDP on [0, 1] whose action values are known to quadrature error:
the next state has density 2y with probability up(x, a), else 2(1 - y). The mean values under the
two densities determine all values, and the transfer operator has rank two (Asm. 1 holds wherever
up(., a) lies in the kernel's space).
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.tabular import TabularMDP

RANDOM_STATES, RANDOM_ACTIONS = 6, 3
# Midpoints of equal cells: quadrature nodes, and where errors in the uniform norm are taken.
GRID = (np.arange(1024) + 0.5) / 1024


def frozen_lake() -> TabularMDP:
    """On slippery ice, so that there is something to estimate."""
    return TabularMDP.from_env(gymnasium.make("FrozenLake-v1", is_slippery=True))


def random_mdp(seed: int) -> TabularMDP:
    """Any next state is possible and no episode ends; rewards lie in [0, 1]."""
    rng = np.random.default_rng(seed)
    shape = (RANDOM_STATES, RANDOM_ACTIONS)
    return TabularMDP.from_arrays(
        rng.dirichlet(np.ones(RANDOM_STATES), size=shape),
        rewards=rng.uniform(size=shape),
        initial_distribution=np.full(RANDOM_STATES, 1 / RANDOM_STATES),
    )


def sample(mdp: TabularMDP, n: int, rng: np.random.Generator) -> tuple[NDArray, ...]:
    """n transitions from uniformly drawn pairs, as `WorldModel.fit` takes them."""
    pairs = rng.integers(mdp.rewards.size, size=n)
    reached = np.cumsum(mdp.transitions.toarray(), axis=1)[pairs]
    return transitions(mdp, pairs, (rng.uniform(size=(n, 1)) >= reached).sum(axis=1))


def transitions(mdp: TabularMDP, pairs: NDArray, outcomes: NDArray) -> tuple[NDArray, ...]:
    """As `WorldModel.fit` takes them; an outcome is a next state, or their number for the end."""
    states, actions = np.divmod(pairs, mdp.n_actions)
    terminated = outcomes == mdp.n_states
    next_states = np.where(terminated, states, outcomes)
    return states, actions, mdp.rewards[states, actions], next_states, terminated


def up(x: NDArray) -> NDArray:
    """Of the continuous MDP, the probability of the density 2y, (n, 2)."""
    return np.stack([0.5 + 0.4 * np.sin(2 * np.pi * x), 0.5 + 0.4 * np.cos(3 * np.pi * x)], axis=1)


def reward(x: NDArray) -> NDArray:
    """Of the continuous MDP, in [0, 1], (n, 2)."""
    return np.stack([x**2, 0.5 * (1 - x) + 0.2 * np.sin(5 * x) ** 2], axis=1)


def continuous_action_values(policy: NDArray, gamma: float) -> NDArray:
    """Eq. (7) on the grid for a policy given on the grid, (nodes, 2)."""
    densities = np.stack([2 * (1 - GRID), 2 * GRID])
    rewards = np.mean((policy * reward(GRID)).sum(axis=1) * densities, axis=1)
    rises = np.mean((policy * up(GRID)).sum(axis=1) * densities, axis=1)
    moves = np.stack([1 - rises, rises], axis=1)
    low, high = np.linalg.solve(np.eye(2) - gamma * moves, rewards)
    return reward(GRID) + gamma * (low + (high - low) * up(GRID))


def continuous_sample(n: int, rng: np.random.Generator) -> tuple[NDArray, ...]:
    """n transitions from uniform states and actions, as `WorldModel.fit` takes them."""
    states, actions = rng.uniform(size=n), rng.integers(2, size=n)
    rises = rng.uniform(size=n) < up(states)[np.arange(n), actions]
    root = np.sqrt(rng.uniform(size=n))
    next_states = np.where(rises, root, 1 - root)
    rewards = reward(states)[np.arange(n), actions]
    return states[:, None], actions, rewards, next_states[:, None], np.zeros(n, dtype=bool)
