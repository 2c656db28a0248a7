"""The operator identities of Appendix A hold for TabularMDP, with and without termination.

T and P are the dense operators of tests/reference; J, q, v and d come from the class under test.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from powr.tabular import TabularMDP
from tests.reference.data import random_mdp, random_policy
from tests.reference.tabular import policy_operator, transfer_operator

gammas = st.sampled_from([0.0, 0.3, 0.9, 0.99])
close = {"rtol": 1e-9, "atol": 1e-9}


@st.composite
def cases(draw, terminates=None):
    """Two MDPs of one size and two policies."""
    size = draw(st.tuples(st.integers(1, 7), st.integers(1, 4)))
    ends = draw(st.booleans()) if terminates is None else terminates
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mdps = [random_mdp(rng, *size, terminates=ends) for _ in range(2)]
    return *mdps, random_policy(rng, *size), random_policy(rng, *size)


def transfer(mdp: TabularMDP) -> np.ndarray:
    return transfer_operator(mdp.transitions.toarray().reshape(*mdp.rewards.shape, mdp.n_states))


@given(cases(), gammas)
def test_state_visitation_is_the_discounted_sum_of_state_distributions(case, gamma):
    """Eq. (A.8): d = (1 - gamma) sum over t of gamma^t (T* P*)^t nu."""
    mdp, _, policy, _ = case
    T, P = transfer(mdp), policy_operator(policy)
    distribution, total = mdp.initial_distribution, np.zeros(mdp.n_states)
    for t in range(3000):
        total += (1 - gamma) * gamma**t * distribution
        distribution = T.T @ (P.T @ distribution)
    np.testing.assert_allclose(mdp.state_visitation(policy, gamma), total, **close)


@given(cases(), gammas)
def test_objective_is_the_reward_under_the_state_visitation(case, gamma):
    """Remark A.1: J = <P r, d> / (1 - gamma)."""
    mdp, _, policy, _ = case
    rewards = policy_operator(policy) @ mdp.rewards.ravel()
    expected = rewards @ mdp.state_visitation(policy, gamma) / (1 - gamma)
    np.testing.assert_allclose(mdp.objective(policy, gamma), expected, **close)


@given(cases(), gammas)
def test_performance_difference(case, gamma):
    """Lemma A.3 (Performance difference)."""
    mdp, _, first, second = case
    advantage = ((first - second) * mdp.action_values(second, gamma)).sum(axis=1)
    expected = advantage @ mdp.state_visitation(first, gamma) / (1 - gamma)
    difference = mdp.objective(first, gamma) - mdp.objective(second, gamma)
    np.testing.assert_allclose(difference, expected, **close)


@given(cases(), st.sampled_from([0.0, 0.3, 0.9]))
def test_directional_derivative(case, gamma):
    """Corollary A.4 (Directional derivatives), against central differences."""
    mdp, _, policy, other = case
    inner = 0.5 * policy + 0.5 / mdp.n_actions
    direction = other - inner
    slope = (direction * mdp.action_values(inner, gamma)).sum(axis=1)
    expected = slope @ mdp.state_visitation(inner, gamma) / (1 - gamma)
    h = 1e-5
    forward = mdp.objective(inner + h * direction, gamma)
    backward = mdp.objective(inner - h * direction, gamma)
    assert (forward - backward) / (2 * h) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(cases(terminates=False), gammas)
def test_property_2_scaled_inverse_is_a_markov_operator(case, gamma):
    """Lemma A.5, 2: (1 - gamma) (I - gamma P T)^-1 is positive and maps 1 to 1."""
    mdp, _, policy, _ = case
    columns = []
    for unit in np.eye(mdp.n_states):  # the values of these rewards are the columns of the inverse
        rewards = np.repeat(unit[:, None], mdp.n_actions, axis=1)
        of_unit = TabularMDP(mdp.transitions, rewards, mdp.initial_distribution)
        columns.append((1 - gamma) * of_unit.values(policy, gamma))
    assert np.min(columns) >= -1e-15
    np.testing.assert_allclose(np.sum(columns, axis=0), 1, rtol=1e-10)


@given(cases(), gammas)
def test_simulation_lemma(case, gamma):
    """Lemma A.6 (Simulation Lemma): two transfer operators, one reward.

    The paper prints T_2 - T_1; the identity M^-1 - N^-1 = M^-1 (N - M) N^-1 that its proof
    applies gives T_1 - T_2.
    """
    first, second, policy, _ = case
    second = TabularMDP(second.transitions, first.rewards, second.initial_distribution)
    difference, _, by_transitions = simulation(first, second, policy, gamma)
    np.testing.assert_allclose(difference, by_transitions, **close)


@given(cases(), gammas)
def test_simulation_lemma_with_two_rewards(case, gamma):
    """Corollary A.7: both T and r change; the sign of T_1 - T_2 as in Lemma A.6."""
    first, second, policy, _ = case
    difference, by_rewards, by_transitions = simulation(first, second, policy, gamma)
    np.testing.assert_allclose(difference, by_rewards + by_transitions, **close)


def simulation(first, second, policy, gamma):
    """q_1 - q_2, and its parts: (I - gamma T_1 P)^-1 of r_1 - r_2 and of gamma (T_1 - T_2) v_2."""
    T1, T2, P = transfer(first), transfer(second), policy_operator(policy)
    inverse = np.linalg.inv(np.eye(len(T1)) - gamma * T1 @ P)
    difference = first.action_values(policy, gamma) - second.action_values(policy, gamma)
    by_rewards = inverse @ (first.rewards - second.rewards).ravel()
    by_transitions = gamma * inverse @ (T1 - T2) @ second.values(policy, gamma)
    return difference.ravel(), by_rewards, by_transitions
