"""Thm. 7 with errors of every kind: the gap, the printed bound and the proven one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.theory import inexact_pmd
from suite.theory.inexact_pmd import bandit, descend, misled
from tests.reference.data import random_mdp

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([0.0, 0.02, 0.5]), st.booleans(), st.sampled_from([0.1, 1.0, 10.0]))
def test_both_bounds_hold_whatever_the_errors(seed, size, decaying, step_size):
    mdp = random_mdp(np.random.default_rng(seed), 4, 3, terminates=bool(seed % 2))
    error = (lambda step: size / (step + 1)) if decaying else (lambda step: size)
    descent = descend(mdp, misled(mdp, 0.8, error), gamma=0.8, step_size=step_size, steps=60)
    assert (descent.gaps >= -1e-9).all()
    assert (descent.gaps <= descent.printed_bounds).all()
    assert (descent.gaps <= descent.proven_bounds).all()


def test_bounds_of_one_state_by_hand():
    """gamma = 0.5, |r| = 1, eps = (0.1, 0.2), distance 0.3: T = 1."""
    errors = np.array([0.1, 0.2])
    assert inexact_pmd.printed_bounds(errors, 1.0, 0.3, 0.5) == pytest.approx(
        [0.2 + (1 + 8) * 0.1 + 8 + 0.6]
    )
    assert inexact_pmd.proven_bounds(errors[:1], 1.0, 0.3, 0.5) == pytest.approx(
        [2 * (0.3 + 0.2 + 0.5 * (8 * 1.1 + 0.6))]
    )


def test_mirror_descent_in_a_bandit_by_hand():
    """One state, gamma 0: the policy after T steps is the softmax of T times the rewards."""
    mdp = bandit(2, 1.0)
    exact = misled(mdp, 0.0, lambda step: 0.0)
    descent = descend(mdp, exact, gamma=0.0, step_size=1.0, steps=3)
    expected = 1 / (1 + np.exp([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(descent.gaps, expected, rtol=1e-12)
