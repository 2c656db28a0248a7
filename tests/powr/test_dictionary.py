"""Features of the dictionary reproduce the kernel, whichever way it grew."""

import numpy as np
import pytest

from powr.kernels import Exponential, Gaussian
from powr.solvers.nystrom import Dictionary

rng = np.random.default_rng(0)
STATES = rng.normal(size=(150, 2))
kernels = pytest.mark.parametrize("kernel", [Gaussian([0.5, 1.5]), Gaussian(3.0), Exponential(1.0)])


def grown(kernel, tolerance, max_rank=1000, chunk=1000):
    dictionary = Dictionary(kernel, (2,), tolerance, max_rank)
    for start in range(0, len(STATES), chunk):
        dictionary.grow(STATES[start : start + chunk])
    return dictionary


@kernels
@pytest.mark.parametrize("tolerance", [1e-10, 1e-4, 0.1])
@pytest.mark.parametrize("chunk", [1000, 1, 40])
def test_kernel_is_missed_by_no_more_than_the_tolerance(kernel, tolerance, chunk):
    dictionary = grown(kernel, tolerance, chunk=chunk)
    features = dictionary.features(STATES)
    missing = kernel(STATES, STATES) - features @ features.T
    assert np.abs(missing).max() <= dictionary.tolerance * (1 + 1e-6) + 1e-14


def test_no_pivots_are_chosen_below_the_rounding_error():
    """A tolerance of 0 would take pivots from what rounding leaves of a smooth kernel."""
    dictionary = Dictionary(Gaussian(1.0), (1,), 0.0, max_rank=1000)
    dictionary.grow(np.linspace(0.0, 1.0, 400)[:, None])
    assert dictionary.rank < 20
    assert dictionary.is_accurate


def test_lost_accuracy_is_noticed():
    """Pivots on a line one after the other, each close to the last, then a state far away."""
    line = np.linspace(0.0, 1.0, 400)[:, None]
    dictionary = Dictionary(Gaussian(1.0), (1,), 0.0, max_rank=1000)
    dictionary.tolerance = 1e-15  # below what rounding allows
    for state in line:
        dictionary.grow(state[None])
    dictionary.grow(np.array([[1.5], [2.0], [4.0]]))
    assert not dictionary.is_accurate
