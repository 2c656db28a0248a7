"""Policies and functions of states: one answer by every way of asking, copies that stand alone."""

import numpy as np
import pytest

from powr.data import StateIndex
from powr.kernels import Dirac, Exponential, Table, expand
from powr.mirror_descent import TablePolicy, make_policy, softmax

rng = np.random.default_rng(0)
LABELS, BOX = np.array([4, 1, 7]), rng.normal(size=(5, 2))
OTHER_LABELS, OTHER_BOX = np.array([7, 2, 4]), np.concatenate([rng.normal(size=(4, 2)), BOX[:2]])


def index_of(states):
    index = StateIndex(states.shape[1:])
    index.number(states)
    return index


def policy_over(kernel, states):
    coefficients = np.random.default_rng(1).normal(size=(len(states), 3))
    return make_policy(expand(kernel, index_of(states), coefficients)), coefficients


CASES = {
    "labels": (Dirac(), LABELS, OTHER_LABELS),
    "vectors, Dirac": (Dirac(), BOX, OTHER_BOX),
    "vectors": (Exponential(0.5), BOX, OTHER_BOX),
}
every_case = pytest.mark.parametrize(("kernel", "states", "others"), CASES.values(), ids=CASES)


@every_case
def test_exponents_are_the_kernel_expansion(kernel, states, others):
    policy, coefficients = policy_over(kernel, states)
    expected = kernel(others, states) @ coefficients
    np.testing.assert_allclose(policy(others), expected, rtol=1e-12)
    np.testing.assert_allclose(policy.probabilities(others), softmax(expected), rtol=1e-12)
    np.testing.assert_array_equal(policy.greedy(others), expected.argmax(axis=1))


@every_case
def test_acting_at_one_state_equals_sampling_at_many(kernel, states, others):
    policy, _ = policy_over(kernel, states)
    draws = np.linspace(0, 1, 50, endpoint=False)
    for state in others:
        one = int(state) if np.ndim(state) == 0 else state
        many = policy.sample(np.repeat(state[None], len(draws), axis=0), draws)
        assert [policy.act(one, draw) for draw in draws] == many.tolist()
        expected = policy.probabilities(state[None])[0]
        np.testing.assert_allclose(np.bincount(many, minlength=3) / 50, expected, atol=0.02 + 1e-9)


def test_a_table_keeps_its_values_when_its_index_grows():
    """States numbered after the values were made have the value 0."""
    index = index_of(LABELS)
    policy = make_policy(Table(index, np.arange(9.0).reshape(3, 3)))
    assert isinstance(policy, TablePolicy)
    before = policy([4, 99]), policy.act(99, 0.5)
    index.number(np.array([50, 51, 99]))
    np.testing.assert_array_equal(policy([4, 99]), [[0, 1, 2], [0, 0, 0]])
    np.testing.assert_array_equal(policy([4, 99]), before[0])
    assert policy.act(99, 0.5) == before[1] == 1
