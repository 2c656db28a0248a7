"""The KL step against scipy's optimizer, and Appendix B on exact action values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import rel_entr

from powr.mirror_descent import kl_step, softmax
from tests.reference.data import random_mdp, random_policy

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 7), st.integers(2, 4))
step_sizes = st.sampled_from([0.01, 1.0, 30.0])


def divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """KL(p; q) of each row."""
    return rel_entr(p, q).sum(axis=-1)


@given(seeds, st.integers(2, 6), st.sampled_from([0.1, 1.0, 5.0]))
def test_kl_step_is_the_minimiser_of_its_objective(seed, n_actions, step_size):
    """Eq. (2) with the KL divergence has the solution of Eq. (14)."""
    rng = np.random.default_rng(seed)
    q, policy = rng.normal(size=n_actions), rng.dirichlet(np.ones(n_actions))

    def objective(p):
        return -step_size * q @ p + divergence(p, policy)

    def gradient(p):
        return -step_size * q + np.log(p / policy) + 1

    found = minimize(
        objective,
        np.full(n_actions, 1 / n_actions),
        jac=gradient,
        method="SLSQP",
        bounds=[(1e-12, 1)] * n_actions,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    step = kl_step(policy[None], q[None], step_size)[0]
    np.testing.assert_allclose(step, found.x, atol=1e-5)
    assert objective(step) <= objective(found.x) + 1e-10


@given(seeds, sizes, step_sizes)
def test_cumulative_form_equals_repeated_steps(seed, size, step_size):
    """Eq. (15): pi_t is the softmax of log pi_0 plus the summed action values."""
    rng = np.random.default_rng(seed)
    initial, action_values = random_policy(rng, *size), rng.normal(size=(5, *size))
    policy = initial
    for q in action_values:
        policy = kl_step(policy, q, step_size)
    cumulative = softmax(np.log(initial) + step_size * action_values.sum(axis=0))
    np.testing.assert_allclose(policy, cumulative, rtol=1e-10, atol=1e-290)


@given(arrays(float, (3, 4), elements=st.floats(-1e308, 1e308)))
def test_softmax_of_any_exponents_is_a_distribution(exponents):
    probabilities = softmax(exponents)
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    best = exponents == exponents.max(axis=1, keepdims=True)
    assert (probabilities[best] > 0).all()


@given(seeds, sizes, step_sizes)
def test_three_points_lemma(seed, size, step_size):
    """Lemma B.2 (Three-points lemma), for every state and an arbitrary third policy."""
    rng = np.random.default_rng(seed)
    q, current, other = rng.normal(size=size), random_policy(rng, *size), random_policy(rng, *size)
    following = kl_step(current, q, step_size)
    gain = step_size * ((following - other) * q).sum(axis=1)
    assert (gain >= divergence(other, following) - divergence(other, current) - 1e-9).all()


@given(seeds, sizes, st.sampled_from([1e-3, 0.1, 1.0]))
def test_step_on_inexact_action_values_loses_little(seed, size, error):
    """Corollary B.3, Eq. (B.7): with error epsilon the gain is at least -2 epsilon."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=True), random_policy(rng, *size)
    q = mdp.action_values(policy, 0.9)
    estimate = q + rng.uniform(-error, error, size=size)
    following = kl_step(policy, q, 1.0)
    assert (((following - policy) * estimate).sum(axis=1) >= -2 * error).all()
    assert (((following - policy) * q).sum(axis=1) > 0).all()  # it is a step
