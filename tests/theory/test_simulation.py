"""The simulation lemma in the uniform norm, and the norm of T_n that it asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from powr.kernels import Dirac, Exponential
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from suite.theory import models
from suite.theory.estimation import tabular_model
from suite.theory.simulation import (
    error_and_bounds,
    transfer_estimate,
    transfer_norm,
    uniform_policy,
)
from tests.reference.tabular import shrunk_model

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([5, 50, 500]))
def test_error_is_never_above_the_bounds(seed, n):
    mdp = models.random_mdp(seed)
    error = error_and_bounds(mdp, tabular_model(mdp, n, seed), uniform_policy(mdp), 0.9)
    assert 0 < error.measured <= error.bound <= error.loose_bound


def test_bound_is_attained_where_all_of_the_model_is_wrong_alike():
    """No state is ever left, every step pays 1, and a ridge of one transition halves the model."""
    mdp = TabularMDP(np.repeat(np.eye(6), 3, axis=0), np.ones((6, 3)), np.full(6, 1 / 6))
    states, actions = np.divmod(np.arange(18), 3)
    model = WorldModel(Dirac(), 3, regularization=1 / 18)
    model.fit(states, actions, np.ones(18), states, np.zeros(18, dtype=bool))
    error = error_and_bounds(mdp, model, uniform_policy(mdp), 0.9)
    assert error.measured == pytest.approx(error.bound)
    assert error.measured == pytest.approx(error.loose_bound)


def test_transfer_estimate_counts():
    mdp = models.frozen_lake()
    rng = np.random.default_rng(0)
    data = models.sample(mdp, 300, rng)
    model = WorldModel(Dirac(), 4, regularization=1e-3).fit(*data)
    expected, _ = shrunk_model(*data, n_states=16, n_actions=4, regularization=1e-3)
    np.testing.assert_allclose(transfer_estimate(model, 16), expected.reshape(64, 16), atol=1e-14)


@given(seeds, st.sampled_from([1e-9, 1e-4, 1.0]), st.sampled_from([0.1, 1.0, 3.0]))
def test_exponential_kernel_on_a_line_makes_a_substochastic_model(seed, regularization, bandwidth):
    """Its Gram matrix has an M-matrix as inverse: weights are not negative, and sum to at most 1.

    So gamma ||T_n|| <= gamma, and Eq. (B.6) holds in the world model: there Lemma 8 and the proof
    of Thm. 7 need no further assumption.
    """
    rng = np.random.default_rng(seed)
    states, actions = rng.normal(size=(20, 1)), rng.integers(2, size=20)
    points = np.linspace(-4, 4, 200)[:, None]
    kernel = Exponential(bandwidth)
    assert transfer_norm(kernel, states, actions, regularization, points) <= 1 + 1e-9
    gram = kernel(states, states) + 20 * regularization * np.eye(20)
    assert np.linalg.solve(gram, kernel(states, points)).min() >= -1e-9
