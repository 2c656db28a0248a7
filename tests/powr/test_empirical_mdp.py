"""The sparse and the dense solve of the empirical MDP, and what they keep from update to update."""

import numpy as np
import pytest

from powr.kernels import Dirac
from powr.solvers.empirical_mdp import DenseBellman, SparseBellman
from powr.world_model import WorldModel

N_STATES, N_ACTIONS = 100, 3


def random_transitions(n, seed=0):
    rng = np.random.default_rng(seed)
    states, next_states = rng.integers(N_STATES, size=(2, n))
    actions, rewards = rng.integers(N_ACTIONS, size=n), rng.standard_normal(n)
    return states, actions, rewards, next_states, rng.random(n) < 0.1


def uniform(states):
    return np.full((len(states), N_ACTIONS), 1 / N_ACTIONS)


@pytest.mark.parametrize("n_entries", [0, 30, 1000])
def test_sparse_and_dense_values_are_the_same(n_entries):
    """With places named twice, on the diagonal, and states that lead nowhere."""
    rng = np.random.default_rng(n_entries)
    rows, columns = rng.integers(N_STATES, size=(2, n_entries))
    entries = 0.99 / np.bincount(rows, minlength=N_STATES)[rows]
    rewards = rng.standard_normal(N_STATES)
    dense, sparse = (
        bellman(rows, columns, N_STATES).values(entries, rewards)
        for bellman in (DenseBellman, SparseBellman)
    )
    np.testing.assert_allclose(sparse, dense, rtol=1e-11, atol=1e-11)
    matrix = np.zeros((N_STATES, N_STATES))
    np.add.at(matrix, (rows, columns), entries)
    np.testing.assert_allclose(dense, rewards + matrix @ dense, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_new", [0, 1, 50])
def test_counts_that_grow_with_or_without_new_triples_equal_one_fit(n_new):
    data, new = random_transitions(400), random_transitions(n_new, seed=1)
    again = tuple(np.concatenate(columns) for columns in zip(data, new, strict=True))
    everything = tuple(np.concatenate(columns) for columns in zip(data, again, strict=True))
    grown = WorldModel(Dirac(), N_ACTIONS, prior=-2.0).fit(*data)
    grown.action_values(uniform, 0.9)  # lays out the system
    grown.partial_fit(*again)
    fitted = WorldModel(Dirac(), N_ACTIONS, prior=-2.0).fit(*everything)
    q_grown, q_fitted = (m.action_values(uniform, 0.9)(grown.states_) for m in (grown, fitted))
    np.testing.assert_allclose(q_grown, q_fitted, rtol=1e-12, atol=1e-12)
