"""Kriging at bounded cost, beside the dense formulas."""

import numpy as np
import pytest
from optimistic_powr.kriging import Kriging, spread
from scipy.spatial.distance import cdist

from powr.kernels import Exponential, Gaussian, Matern52


def dense_kriging(kernel, centers, queries, noise):
    """The weights k(x, X) (K + noise)^-1."""
    gram = kernel(centers, centers) + np.diag(np.broadcast_to(noise, len(centers)))
    return np.linalg.solve(gram, kernel(queries, centers).T).T


@pytest.mark.parametrize(
    "kernel", [Exponential([0.5, 0.8]), Matern52(0.4), Gaussian(0.2)], ids=repr
)
def test_with_all_centers_as_landmarks_it_is_exact(kernel):
    rng = np.random.default_rng(1000)
    centers, queries = rng.uniform(-1, 1, (150, 2)), rng.uniform(-1.2, 1.2, (60, 2))
    noise = 0.05
    kriging = Kriging(kernel, centers, noise, n_landmarks=150, n_neighbours=8)
    weights = kriging.weights(queries)
    expected = dense_kriging(kernel, centers, queries, noise)
    values = rng.normal(size=(150, 3))
    np.testing.assert_allclose(weights @ values, expected @ values, atol=1e-6)


def test_landmarks_and_neighbours_agree_with_all_of_2000_points():
    rng = np.random.default_rng(1001)
    kernel = Exponential([0.8, 0.6])
    centers, queries = rng.uniform(-1, 1, (2000, 2)), rng.uniform(-1, 1, (500, 2))
    values = np.sin(3 * centers[:, 0]) * np.cos(2 * centers[:, 1]) + 0.05 * rng.normal(size=2000)
    expected = dense_kriging(kernel, centers, queries, 0.01)
    kriging = Kriging(kernel, centers, 0.01, n_landmarks=100, n_neighbours=16)
    weights = kriging.weights(queries)
    error = weights @ values - expected @ values
    assert np.abs(error).max() < 0.05 * np.ptp(values)
    assert np.sqrt((error**2).mean()) < 0.01 * np.ptp(values)


@pytest.mark.parametrize(("dimensions", "n"), [(2, 8000), (12, 8000), (40, 1000)])
def test_in_any_dimension_a_spread_covers_the_points(dimensions, n):
    rng = np.random.default_rng(1001)
    points = rng.uniform(-0.5, 0.5, (n, dimensions))
    chosen = spread(points, 600)
    assert 150 <= len(chosen) <= 600
    assert (np.diff(chosen) > 0).all()
    drawn = rng.choice(n, len(chosen), replace=False)
    farthest, at_random = (
        cdist(points, points[numbers]).min(axis=1).max() for numbers in (chosen, drawn)
    )
    assert farthest < 1.2 * at_random
