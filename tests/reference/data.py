"""Finite models with rational probabilities, and data that show these exactly."""

from __future__ import annotations

import numpy as np

from benchmarks.mountain_car import Transitions
from powr.tabular import TabularMDP


def exact_frequencies(mdp: TabularMDP, max_denominator: int = 12) -> Transitions:
    """Every (state, action) pair, with next states as often as their probabilities say.

    Each pair appears N times with N the least number that makes all its probabilities whole;
    a probability of 1/3 thus is one transition in three. Rewards are the expected ones. A
    terminated transition carries its own state as the next one, which must not matter.
    """
    columns = ([], [], [], [], [])
    for row, probabilities in enumerate(mdp.transitions.toarray()):
        state, action = divmod(row, mdp.n_actions)
        outcomes = np.append(probabilities, 1 - probabilities.sum())
        counts = _whole_multiples(outcomes, max_denominator)
        for outcome in np.flatnonzero(counts):
            ends = outcome == mdp.n_states
            step = (state, action, mdp.rewards[state, action], state if ends else outcome, ends)
            for column, entry in zip(columns, step, strict=True):
                column.extend([entry] * counts[outcome])
    return Transitions(*map(np.array, columns))


def random_mdp(
    rng: np.random.Generator, n_states: int, n_actions: int, *, terminates: bool
) -> TabularMDP:
    """Transition probabilities are sixths; rewards have either sign."""
    outcomes = np.ones(n_states + 1)
    outcomes[-1] = terminates
    counts = rng.multinomial(6, outcomes / outcomes.sum(), size=(n_states, n_actions))
    return TabularMDP.from_arrays(
        counts[:, :, :-1] / 6,
        rewards=rng.normal(size=(n_states, n_actions)),
        initial_distribution=rng.dirichlet(np.ones(n_states)),
    )


def random_policy(rng: np.random.Generator, n_states: int, n_actions: int) -> np.ndarray:
    return rng.dirichlet(np.ones(n_actions), size=n_states)


def _whole_multiples(probabilities: np.ndarray, max_denominator: int) -> np.ndarray:
    for denominator in range(1, max_denominator + 1):
        counts = np.rint(probabilities * denominator)
        if np.allclose(probabilities * denominator, counts, rtol=0, atol=1e-9):
            return counts.astype(int)
    raise ValueError(f"{probabilities} are no multiples of 1/N for any N <= {max_denominator}")
