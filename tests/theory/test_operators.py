"""Identities of the paper's spaces on explicit features, and the sums behind Thm. 7."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from powr.kernels import Gaussian
from powr.mirror_descent import kl_step
from powr.tabular import TabularMDP, greedy_policy
from tests.reference.data import random_mdp, random_policy
from tests.reference.tabular import policy_operator

seeds = st.integers(0, 2**32 - 1)


def features(n_states: int) -> np.ndarray:
    """phi of the Gaussian kernel on a few points, (states, dimension): phi phi' is the Gram."""
    points = np.linspace(0, 2, n_states)[:, None]
    return np.linalg.cholesky(Gaussian(1.0)(points, points))


@given(seeds)
def test_sherman_woodbury(seed):
    """Eqs. (A.1), (A.2) and Lemma A.1, which follows from them."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(3, 5)), rng.normal(size=(5, 3))
    left, right = np.linalg.inv(np.eye(3) + A @ B), np.linalg.inv(np.eye(5) + B @ A)
    np.testing.assert_allclose(left, np.eye(3) - A @ right @ B, atol=1e-6)
    np.testing.assert_allclose(right, np.eye(5) - right @ B @ A, atol=1e-6)
    np.testing.assert_allclose(left @ A, A @ right, atol=1e-6)


@given(seeds)
def test_separable_spaces_hold_the_averages_of_compatible_policies(seed):
    """Prop. 4, Eqs. (A.22)-(A.24): P g = <h x sum of v_a p_a, phi x phi> for g = h x v."""
    rng = np.random.default_rng(seed)
    phi, policy = features(4), random_policy(rng, 4, 3)
    p = np.linalg.solve(phi, policy)  # pi(a|.) = <p_a, phi(.)>
    h, v = rng.normal(size=4), rng.normal(size=3)
    g = np.outer(phi @ h, v)
    f = np.outer(h, p @ v)
    expected = np.einsum("xi,ij,xj->x", phi, f, phi)
    np.testing.assert_allclose(policy_operator(policy) @ g.ravel(), expected, atol=1e-8)


@given(seeds, st.sampled_from([0.25, 1.0, 2.0]))
def test_source_condition_is_a_power_of_the_covariance(seed, beta):
    """Lemma C.1, Eq. (C.1), for each of the two implications; the proof has their names swapped.

    With finitely many states that are all sampled Asm. 2 holds for every beta.
    """
    rng = np.random.default_rng(seed)
    weights, phi = rng.dirichlet(np.full(4, 5.0)), features(4)
    mu, vectors = np.linalg.eigh(phi.T @ (weights[:, None] * phi))  # C_rho and its eigenvectors
    e = phi @ vectors / np.sqrt(mu)  # orthonormal in L2(rho)
    np.testing.assert_allclose(e.T @ (weights[:, None] * e), np.eye(4), atol=1e-6)
    inverse = vectors @ np.diag(mu**-beta) @ vectors.T  # C_rho^-beta
    # Fact 2 implies fact 1 (headed "1 => 2"): the function sum a_i mu_i^(1/2+beta) e_i is a g
    # for which C^-beta g has the norm of a.
    a = rng.normal(size=4)
    g = vectors @ (mu**beta * a)
    np.testing.assert_allclose(phi @ g, e @ (mu ** (0.5 + beta) * a), atol=1e-9)
    assert np.linalg.norm(inverse @ g) == pytest.approx(np.linalg.norm(a))
    # Fact 1 implies fact 2 (headed "2 => 1"): g = sum b_i mu_i^(1/2) e_i has a_i = mu_i^-beta b_i.
    g = rng.normal(size=4)
    a = mu**-beta * (vectors.T @ g)
    assert np.linalg.norm(a) == pytest.approx(np.linalg.norm(inverse @ g))
    np.testing.assert_allclose(phi @ g, e @ (mu ** (0.5 + beta) * a), atol=1e-9)


@pytest.mark.parametrize(("beta", "order"), [(0.25, 0.25), (0.5, 0.5), (1.5, 1.0), (2.0, 1.0)])
def test_bias_of_ridge_regression_saturates(beta, order):
    """In the norm of G it is of order lambda^min(beta, 1): Eqs. (C.3), (C.4) name no such limit."""
    i = np.arange(1, 10**6)
    mu, a = i**-2.0, i**-0.51
    biases = [np.linalg.norm(ridge / (mu + ridge) * mu**beta * a) for ridge in (1e-6, 1e-5)]
    assert np.log10(biases[1] / biases[0]) == pytest.approx(order, abs=0.03)


@given(seeds, st.sampled_from([0.0, 0.1, 1.0]))
def test_sum_of_gaps_is_bounded_from_every_state(seed, error):
    """Eqs. (B.9) and (B.10), which need no monotone objective: the sum that Thm. 7 starts from."""
    gamma, step_size, steps = 0.8, 2.0, 25
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, 4, 3, terminates=True)
    optimal = greedy_policy(mdp.optimal_action_values(gamma))
    policy, total = np.full((4, 3), 1 / 3), np.zeros(4)
    for _ in range(steps):
        exact = mdp.action_values(policy, gamma)
        following = kl_step(policy, exact + rng.choice([-error, error], size=(4, 3)), step_size)
        gap = mdp.values(optimal, gamma) - mdp.values(policy, gamma)
        gain = ((following - policy) * exact).sum(axis=1) + 2 * error
        assert (gain >= -1e-9).all()
        approach = distance(optimal, policy) - distance(optimal, following)
        for state in range(4):
            visits = visitation(mdp, optimal, gamma, state) / (1 - gamma)
            assert gap[state] <= visits @ (gain + approach / step_size) + 1e-9
        total += gap
        policy = following
    reward, horizon = np.abs(mdp.rewards).max(), 1 / (1 - gamma)
    bound = 2 * horizon**2 * (reward + steps * error) + horizon * np.log(3) / step_size
    assert (total <= bound).all()


def distance(optimal: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """KL(optimal; policy) of a policy that takes one action a state."""
    return -np.log(policy[optimal == 1])


def visitation(mdp: TabularMDP, policy: np.ndarray, gamma: float, state: int) -> np.ndarray:
    start = np.eye(mdp.n_states)[state]
    return TabularMDP(mdp.transitions, mdp.rewards, start).state_visitation(policy, gamma)


def test_norms_of_policies_grow_along_mirror_descent():
    """Thm. 9 needs ||v|| in F bounded along the descent; the norms of the policies are not.

    For the exponential kernel on [0, 1] twice the squared norm of f is the integral of f^2 + f'^2
    plus f(0)^2 + f(1)^2. After t steps a policy of two actions is the logistic function of t times
    the advantage, here x - 1/2: its norm grows like the square root of t.
    """
    x = np.linspace(0, 1, 200_001)
    squares = []
    for steps in (100, 400, 1600):
        policy = expit(steps * (x - 0.5))
        slope = steps * policy * (1 - policy)
        inner = np.trapezoid(policy**2 + slope**2, x)
        squares.append((inner + policy[0] ** 2 + policy[-1] ** 2) / 2)
    assert squares[2] / squares[1] == pytest.approx(4, rel=0.05)
    assert squares[1] / squares[0] == pytest.approx(4, rel=0.2)
