"""The finite MDPs of the theory's tables, and i.i.d. data from them as Thm. 9 assumes it."""

from __future__ import annotations

import gymnasium
import numpy as np

from powr.tabular import TabularMDP

RANDOM_STATES, RANDOM_ACTIONS = 6, 3


def frozen_lake() -> TabularMDP:
    """On slippery ice, the kind that has something to estimate."""
    return TabularMDP.from_env(gymnasium.make("FrozenLake-v1", is_slippery=True))


def taxi() -> TabularMDP:
    return TabularMDP.from_env(gymnasium.make("Taxi-v3"))


def random_mdp(seed: int) -> TabularMDP:
    """Any next state is possible and no episode ends; rewards lie in [0, 1]."""
    rng = np.random.default_rng(seed)
    shape = (RANDOM_STATES, RANDOM_ACTIONS)
    return TabularMDP.from_arrays(
        rng.dirichlet(np.ones(RANDOM_STATES), size=shape),
        rewards=rng.uniform(size=shape),
        initial_distribution=np.full(RANDOM_STATES, 1 / RANDOM_STATES),
    )


def sample(mdp: TabularMDP, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """n transitions from uniformly drawn pairs, as `WorldModel.fit` takes them."""
    pairs = rng.integers(mdp.rewards.size, size=n)
    states, actions = np.divmod(pairs, mdp.n_actions)
    reached = np.cumsum(mdp.transitions.toarray(), axis=1)[pairs]
    outcomes = (rng.uniform(size=(n, 1)) >= reached).sum(axis=1)
    terminated = outcomes == mdp.n_states
    next_states = np.where(terminated, states, outcomes)
    return states, actions, mdp.rewards[states, actions], next_states, terminated
