"""The error of estimated action values: exact references, the simulation lemma, fitted rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from powr.kernels import Dirac, Exponential
from powr.world_model import WorldModel
from suite.theory import estimation
from tests.reference.tabular import shrunk_model

seeds = st.integers(0, 2**32 - 1)


def test_continuous_action_values_equal_simulated_returns():
    gamma, episodes, start = 0.5, 40_000, 700

    def first_action(x):
        return 1 / (1 + np.exp(-3 * np.sin(4 * x)))

    rng = np.random.default_rng(0)
    x, action = np.full(episodes, estimation.GRID[start]), np.ones(episodes, dtype=int)
    returns = np.zeros(episodes)
    for step in range(30):
        returns += gamma**step * estimation.reward(x)[np.arange(episodes), action]
        rises = rng.uniform(size=episodes) < estimation.up(x)[np.arange(episodes), action]
        root = np.sqrt(rng.uniform(size=episodes))
        x = np.where(rises, root, 1 - root)
        action = (rng.uniform(size=episodes) >= first_action(x)).astype(int)
    policy = np.stack([first_action(estimation.GRID), 1 - first_action(estimation.GRID)], axis=1)
    exact = estimation.continuous_action_values(policy, gamma)[start, 1]
    assert returns.mean() == pytest.approx(exact, abs=5 * returns.std() / np.sqrt(episodes))


@given(seeds, st.sampled_from([5, 50, 500]))
def test_error_is_never_above_the_bounds(seed, n):
    mdp = estimation.random_mdp(seed)
    model, policy = estimation.tabular_model(mdp, n, seed), estimation.uniform_policy(mdp)
    error, bound, loose_bound = estimation.error_and_bounds(mdp, model, policy, 0.9)
    assert 0 < error <= bound <= loose_bound


def test_transfer_estimate_counts():
    data = estimation.sample(estimation.frozen_lake(), 300, np.random.default_rng(0))
    model = WorldModel(Dirac(), 4, regularization=1e-3).fit(*data)
    expected, _ = shrunk_model(*data, n_states=16, n_actions=4, regularization=1e-3)
    found = estimation.transfer_estimate(model, 16)
    np.testing.assert_allclose(found, expected.reshape(64, 16), atol=1e-14)


def test_fitted_exponent_of_power_laws():
    sizes = np.array([100, 400, 1600])
    fitted = estimation.fitted_exponent(sizes, np.outer([1.0, 2.0, 0.5], sizes**-0.5))
    assert (fitted.value, *fitted.interval) == pytest.approx((0.5, 0.5, 0.5))
    sizes = np.array([10.0, 1000.0])
    fitted = estimation.fitted_exponent(sizes, np.array([sizes**-0.4, sizes**-0.6]))
    assert fitted.value == pytest.approx(0.5)
    # t of one degree of freedom: 12.706 times 0.1
    assert fitted.interval == pytest.approx((0.5 - 1.2706, 0.5 + 1.2706), rel=1e-4)


def test_errors_fall_at_the_parametric_rate_on_tables():
    sizes = np.array([1600, 6400, 25_600])
    mdp = estimation.random_mdp(0)
    errors = [[estimation.tabular_error(mdp, 0.9, n, seed) for n in sizes] for seed in range(8)]
    fitted = estimation.fitted_exponent(sizes, np.array(errors))
    assert estimation.TABULAR_RATE < fitted.interval.low < 0.5 < fitted.interval.high


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
    norm = estimation.transfer_norm(kernel, states, actions, regularization, points)
    assert norm <= 1 + 1e-9
    gram = kernel(states, states) + 20 * regularization * np.eye(20)
    assert np.linalg.solve(gram, kernel(states, points)).min() >= -1e-9
