"""One test case that every kernel must pass, and what is particular to each."""

import copy
import math
import pickle

import numpy as np
import pytest
import scipy.special

from powr import POWR, kernels
from powr import literal as reference
from powr.kernels import (
    Abel,
    Dirac,
    Exponential,
    Gaussian,
    Kernel,
    Matern52,
    check_kernel,
    diagonal,
    expansion,
)
from powr.world_model import WorldModel

rng = np.random.default_rng(0)
BOX = rng.normal(size=(12, 3))
BOX[7] = BOX[2]  # a state seen twice
OTHER_BOX = np.concatenate([rng.normal(size=(5, 3)), BOX[:2]])
LABELS = np.array([0, 3, 3, 1, 0])
OTHER_LABELS = np.array([3, 2])


def abel(bandwidth):
    """Of the authors' code, as a function of two states."""
    widths = np.broadcast_to(bandwidth, 3)
    return lambda x, y: math.exp(-sum(abs(x - y) / (math.sqrt(2) * widths)))


def matern52(bandwidth):
    """2^(1 - nu) / Gamma(nu) s^nu K_nu(s), s = sqrt(2 nu) r, nu = 5/2, which tends to 1 at 0."""

    def kernel(x, y):
        s = math.sqrt(5) * reference.scaled_distance(x, y, bandwidth)
        return 2**-1.5 / math.gamma(2.5) * s**2.5 * scipy.special.kv(2.5, s) if s else 1.0

    return kernel


KERNELS = [
    pytest.param(Dirac(), reference.dirac(), LABELS, OTHER_LABELS, id="Dirac on labels"),
    pytest.param(Dirac(), reference.dirac(), BOX, OTHER_BOX, id="Dirac on vectors"),
    *(
        pytest.param(kernel(width), literal(width), BOX, OTHER_BOX, id=f"{kernel.__name__} {width}")
        for kernel, literal in (
            (Gaussian, reference.gaussian),
            (Exponential, reference.exponential),
            (Abel, abel),
            (Matern52, matern52),
        )
        for width in (0.7, [0.5, 1, 20])
    ),
]


@pytest.mark.parametrize(("kernel", "literal", "x", "y"), KERNELS)
class TestEveryKernel:
    def test_equals_the_naive_loop(self, kernel, literal, x, y):
        np.testing.assert_allclose(kernel(x, y), reference.gram(literal, x, y), rtol=1e-13)

    def test_is_symmetric_positive_and_one_on_the_diagonal(self, kernel, literal, x, y):
        before = x.copy()
        gram = kernel(x, x)
        np.testing.assert_array_equal(gram, gram.T)
        assert np.linalg.eigvalsh(gram).min() >= -1e-12
        np.testing.assert_array_equal(np.diag(gram), 1)
        np.testing.assert_array_equal(diagonal(kernel, x), 1)
        np.testing.assert_array_equal(x, before)
        assert kernel(x[:0], y).shape == (0, len(y))

    def test_is_a_kernel_and_equals_its_copies_alone(self, kernel, literal, x, y):
        assert isinstance(kernel, Kernel)
        check_kernel(kernel, x.shape[1:])
        twin = pickle.loads(pickle.dumps(kernel))  # noqa: S301
        assert copy.deepcopy(kernel) == twin == kernel
        assert hash(twin) == hash(kernel)
        assert kernel != Gaussian(123.0)


@pytest.mark.parametrize("make", [Gaussian, Exponential, Abel, Matern52])
def test_bandwidths_must_be_positive_numbers_that_match_the_states(make):
    for bandwidth in (0, [1.0, -1.0], np.nan):
        with pytest.raises(ValueError, match="bandwidth must be positive and finite"):
            make(bandwidth)
    with pytest.raises(ValueError, match="a number or one number per dimension"):
        make([])
    with pytest.raises(ValueError, match="2 bandwidths, but states have 3 dimensions"):
        make([1.0, 2.0])(BOX, BOX)


# -- kernels of a user's own ----------------------------------------------------------------------


def linear(x, y):
    """Of finite rank, and not the same on the whole diagonal."""
    return 0.5 + x @ y.T


def data(n=60):
    rng = np.random.default_rng(0)
    states, next_states = rng.normal(size=(2, n, 2))
    return states, rng.integers(2, size=n), rng.normal(size=n), next_states, rng.random(n) < 0.2


def uniform(states):
    return np.full((len(states), 2), 0.5)


def test_every_solver_takes_a_custom_kernel():
    found = [
        WorldModel(linear, 2, method=method, regularization=1e-3, tolerance=1e-10)
        .fit(*data())
        .action_values(uniform, 0.9)(data()[0])
        for method in ("exact", "nystrom", "auto")
    ]
    for values in found[1:]:
        np.testing.assert_allclose(values, found[0], atol=1e-6 * np.abs(found[0]).max())


def test_an_expansion_too_large_for_one_gram_matrix_is_made_in_parts(monkeypatch):
    coefficients = np.random.default_rng(1).normal(size=(12, 2))
    whole = expansion(Exponential(0.5), OTHER_BOX, BOX, coefficients)
    monkeypatch.setattr(kernels, "LARGEST_GRAM", 30)
    parts = expansion(Exponential(0.5), OTHER_BOX, BOX, coefficients)
    np.testing.assert_allclose(parts, whole, rtol=1e-14)


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Gaussian, TypeError, "kernel must be .* got <class"),
        (np.dot, TypeError, "kernel must be .* which raised ValueError"),
        (lambda x, y: np.ones(len(x)), TypeError, r"kernel must be .* has the shape \(2,\)"),
        (lambda x, y: np.full((len(x), len(y)), np.nan), ValueError, "kernel must be .* finite"),
        (lambda x, y: x[:, :1] - y[:, 0], ValueError, "kernel must be .* not symmetric"),
        (Gaussian([1.0, 2.0, 3.0]), ValueError, "3 bandwidths, but states have 2 dimensions"),
    ],
    ids=["class", "another function", "shape", "NaN", "not symmetric", "bandwidths"],
)
def test_what_is_no_kernel_is_refused_by_model_and_agent(kernel, error, message):
    with pytest.raises(error, match=message):
        WorldModel(kernel, 2).fit(*data())
    with pytest.raises(error, match=message):
        POWR("MountainCar-v0", kernel=kernel)
