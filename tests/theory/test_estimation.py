"""Exact values of the continuous MDP, and fitted exponents."""

import numpy as np
import pytest

from powr.kernels import Exponential, Gaussian
from powr.mirror_descent import softmax
from powr.world_model import WorldModel
from suite.theory import compatibility, estimation, models


def some_policy(x):
    first = 1 / (1 + np.exp(-3 * np.sin(4 * x)))
    return np.stack([first, 1 - first], axis=1)


def test_continuous_action_values_equal_simulated_returns():
    gamma, episodes, steps = 0.5, 40_000, 30
    rng = np.random.default_rng(0)
    start = 700
    x, action = np.full(episodes, models.GRID[start]), np.ones(episodes, dtype=int)
    returns = np.zeros(episodes)
    for step in range(steps):
        returns += gamma**step * models.reward(x)[np.arange(episodes), action]
        rises = rng.uniform(size=episodes) < models.up(x)[np.arange(episodes), action]
        root = np.sqrt(rng.uniform(size=episodes))
        x = np.where(rises, root, 1 - root)
        action = (rng.uniform(size=episodes) >= some_policy(x)[:, 0]).astype(int)
    exact = models.continuous_action_values(some_policy(models.GRID), gamma)[start, 1]
    assert returns.mean() == pytest.approx(exact, abs=5 * returns.std() / np.sqrt(episodes))


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
    mdp = models.random_mdp(0)
    errors = [[estimation.tabular_error(mdp, 0.9, n, seed) for n in sizes] for seed in range(8)]
    fitted = estimation.fitted_exponent(sizes, np.array(errors))
    assert estimation.TABULAR_RATE < fitted.interval.low < 0.5 < fitted.interval.high


SETTING = compatibility.Setting(gamma=0.9, regularization=1e-6, step_size=1.0, steps=20)


def test_gaussian_kernel_explodes_on_few_data_and_the_exponential_never():
    """There |q_n| is at most max |r_n| / (1 - gamma), so no error can exceed twice that."""
    measure = compatibility.error_and_norm
    errors, norms = np.array(
        [
            np.max([measure(kernel, 25, seed, SETTING) for seed in range(5)], axis=0)
            for kernel in (Gaussian(0.1), Exponential(0.5))
        ]
    ).T
    assert norms[0] > 10
    assert norms[1] <= 1
    assert errors[0] > 20
    assert errors[1] < 2 / (1 - 0.9)


def test_algorithm_1_is_that_of_the_world_model():
    kernel, data = Exponential(0.5), models.continuous_sample(25, np.random.default_rng(0))
    model = WorldModel(kernel, 2, regularization=1e-6).fit(*data)
    points = models.GRID[::64, None]
    sums = []
    for C, q in compatibility.algorithm_1(kernel, data, SETTING._replace(steps=3)):
        sums.append(C)
        expected = model.action_values(lambda x, C=C: softmax(kernel(x, data[0]) @ C), 0.9)(points)
        np.testing.assert_allclose(kernel(points, data[0]) @ q, expected, rtol=1e-5, atol=1e-5)
    assert not sums[0].any()
    assert np.abs(sums[2]).max() > 0


def test_kernel_norm_is_that_of_the_interpolant():
    points = np.linspace(0, 1, 30)[:, None]
    values = np.random.default_rng(0).normal(size=30)
    expected = values @ np.linalg.solve(Exponential(0.5)(points, points), values)
    assert compatibility.kernel_norm(values, 0.5) == pytest.approx(expected)
