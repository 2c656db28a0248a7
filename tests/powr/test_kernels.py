"""One test case that every kernel must pass, and what is particular to each."""

import numpy as np
import pytest

from benchmarks.literal import kernels as reference
from powr.kernels import Dirac, Exponential, Gaussian

rng = np.random.default_rng(0)
BOX = rng.normal(size=(12, 3))
BOX[7] = BOX[2]  # a state seen twice
OTHER_BOX = np.concatenate([rng.normal(size=(5, 3)), BOX[:2]])
LABELS = np.array([0, 3, 3, 1, 0])
OTHER_LABELS = np.array([3, 2])

KERNELS = [
    pytest.param(Dirac(), reference.dirac(), LABELS, OTHER_LABELS, id="Dirac on labels"),
    pytest.param(Dirac(), reference.dirac(), BOX, OTHER_BOX, id="Dirac on vectors"),
    pytest.param(Gaussian(0.7), reference.gaussian(0.7), BOX, OTHER_BOX, id="Gaussian"),
    pytest.param(
        Gaussian([0.5, 1, 20]),
        reference.gaussian([0.5, 1, 20]),
        BOX,
        OTHER_BOX,
        id="Gaussian, one bandwidth a dimension",
    ),
    pytest.param(Exponential(0.7), reference.exponential(0.7), BOX, OTHER_BOX, id="Exponential"),
    pytest.param(
        Exponential([0.5, 1, 20]),
        reference.exponential([0.5, 1, 20]),
        BOX,
        OTHER_BOX,
        id="Exponential, one bandwidth a dimension",
    ),
]


@pytest.mark.parametrize(("kernel", "literal", "x", "y"), KERNELS)
class TestEveryKernel:
    def test_equals_the_naive_loop(self, kernel, literal, x, y):
        np.testing.assert_allclose(kernel(x, y), reference.gram(literal, x, y), rtol=1e-13)

    def test_is_symmetric(self, kernel, literal, x, y):
        np.testing.assert_array_equal(kernel(x, x), kernel(x, x).T)
        np.testing.assert_allclose(kernel(x, y), kernel(y, x).T, rtol=1e-15)

    def test_is_positive_semidefinite(self, kernel, literal, x, y):
        assert np.linalg.eigvalsh(kernel(x, x)).min() >= -1e-12

    def test_is_one_on_the_diagonal(self, kernel, literal, x, y):
        np.testing.assert_array_equal(np.diag(kernel(x, x)), 1)

    def test_has_one_entry_a_pair(self, kernel, literal, x, y):
        assert kernel(x, y).shape == (len(x), len(y))
        assert kernel(x[:0], y).shape == (0, len(y))

    def test_leaves_its_arguments_alone(self, kernel, literal, x, y):
        before = x.copy(), y.copy()
        kernel(x, y)
        np.testing.assert_array_equal(x, before[0])
        np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("make", [Gaussian, Exponential])
class TestBandwidth:
    def test_scales_its_own_dimension(self, make):
        kernel = make([1.0, 10.0])
        x = np.zeros((1, 2))
        np.testing.assert_allclose(kernel(x, [[3.0, 0.0]]), kernel(x, [[0.0, 30.0]]), rtol=1e-15)

    def test_one_number_is_the_same_as_one_a_dimension(self, make):
        np.testing.assert_array_equal(make(2.0)(BOX, BOX), make([2.0, 2.0, 2.0])(BOX, BOX))

    @pytest.mark.parametrize("bandwidth", [0, -1.0, [1.0, 0.0], np.nan, np.inf])
    def test_must_be_positive(self, make, bandwidth):
        with pytest.raises(ValueError, match="bandwidth must be positive and finite"):
            make(bandwidth)

    @pytest.mark.parametrize("bandwidth", [[], [[1.0, 2.0]]])
    def test_must_be_a_number_or_a_list(self, make, bandwidth):
        with pytest.raises(ValueError, match="a number or one number per dimension"):
            make(bandwidth)

    def test_must_match_the_states(self, make):
        with pytest.raises(ValueError, match="2 bandwidths, but states have 3 dimensions"):
            make([1.0, 2.0])(BOX, BOX)


def test_dirac_of_distinct_states_is_the_identity():
    np.testing.assert_array_equal(Dirac()(np.arange(4), np.arange(4)), np.eye(4))
