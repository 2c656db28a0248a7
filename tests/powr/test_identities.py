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

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 7), st.integers(1, 4))
gammas = st.sampled_from([0.0, 0.3, 0.9, 0.99])

close = {"rtol": 1e-9, "atol": 1e-9}


def transfer(mdp: TabularMDP) -> np.ndarray:
    return transfer_operator(mdp.transitions.toarray().reshape(*mdp.rewards.shape, mdp.n_states))


def with_state_rewards(mdp: TabularMDP, f: np.ndarray) -> TabularMDP:
    """The MDP whose values under any policy are (I - gamma P T)^-1 f."""
    rewards = np.repeat(f[:, None], mdp.n_actions, axis=1)
    return TabularMDP(mdp.transitions, rewards, mdp.initial_distribution)


@given(seeds, sizes, st.booleans(), gammas)
def test_inverse_passes_through_the_policy_operator(seed, size, terminates, gamma):
    """Lemma A.1: P (I - gamma T P)^-1 = (I - gamma P T)^-1 P, so one unknown per state will do."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=terminates), random_policy(rng, *size)
    T, P = transfer(mdp), policy_operator(policy)
    in_pairs = P @ np.linalg.inv(np.eye(len(T)) - gamma * T @ P) @ mdp.rewards.ravel()
    np.testing.assert_allclose(mdp.values(policy, gamma), in_pairs, **close)


@given(seeds, sizes, st.booleans(), gammas)
def test_state_visitation_is_the_discounted_sum_of_state_distributions(
    seed, size, terminates, gamma
):
    """Eq. (A.8): d = (1 - gamma) sum over t of gamma^t (T* P*)^t nu."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=terminates), random_policy(rng, *size)
    T, P = transfer(mdp), policy_operator(policy)
    distribution, total = mdp.initial_distribution, np.zeros(mdp.n_states)
    for t in range(3000):
        total += (1 - gamma) * gamma**t * distribution
        distribution = T.T @ (P.T @ distribution)
    np.testing.assert_allclose(mdp.state_visitation(policy, gamma), total, **close)


@given(seeds, sizes, gammas)
def test_state_visitation_sums_to_one_less_the_time_after_termination(seed, size, gamma):
    rng = np.random.default_rng(seed)
    policy = random_policy(rng, *size)
    endless = random_mdp(rng, *size, terminates=False)
    assert endless.state_visitation(policy, gamma).sum() == pytest.approx(1, abs=1e-12)
    ending = random_mdp(rng, *size, terminates=True)
    # Reward gamma for a step that ends and 0 for any other: its J is the expected gamma^length.
    stops = gamma * (1 - ending.transitions.sum(axis=1)).reshape(size)
    clock = TabularMDP(ending.transitions, stops, ending.initial_distribution)
    missing = 1 - ending.state_visitation(policy, gamma).sum()
    assert missing == pytest.approx(clock.objective(policy, gamma), abs=1e-10)


@given(seeds, sizes, st.booleans(), gammas)
def test_objective_is_the_reward_under_the_state_visitation(seed, size, terminates, gamma):
    """Remark A.1: J = <P r, d> / (1 - gamma)."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=terminates), random_policy(rng, *size)
    rewards = policy_operator(policy) @ mdp.rewards.ravel()
    expected = rewards @ mdp.state_visitation(policy, gamma) / (1 - gamma)
    np.testing.assert_allclose(mdp.objective(policy, gamma), expected, **close)


@given(seeds, sizes, st.booleans(), gammas)
def test_performance_difference(seed, size, terminates, gamma):
    """Lemma A.3 (Performance difference)."""
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, *size, terminates=terminates)
    first, second = random_policy(rng, *size), random_policy(rng, *size)
    advantage = ((first - second) * mdp.action_values(second, gamma)).sum(axis=1)
    expected = advantage @ mdp.state_visitation(first, gamma) / (1 - gamma)
    difference = mdp.objective(first, gamma) - mdp.objective(second, gamma)
    np.testing.assert_allclose(difference, expected, **close)


@given(seeds, sizes, st.booleans(), st.sampled_from([0.0, 0.3, 0.9]))
def test_directional_derivative(seed, size, terminates, gamma):
    """Corollary A.4 (Directional derivatives), against central differences."""
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, *size, terminates=terminates)
    inner = 0.5 * random_policy(rng, *size) + 0.5 / mdp.n_actions
    direction = random_policy(rng, *size) - inner
    slope = (direction * mdp.action_values(inner, gamma)).sum(axis=1)
    expected = slope @ mdp.state_visitation(inner, gamma) / (1 - gamma)
    h = 1e-5
    forward = mdp.objective(inner + h * direction, gamma)
    backward = mdp.objective(inner - h * direction, gamma)
    assert (forward - backward) / (2 * h) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(seeds, sizes, st.booleans(), gammas)
def test_property_1_inverse_raises_nonnegative_functions(seed, size, terminates, gamma):
    """Lemma A.5 (Properties of I - gamma P T), 1: f >= 0 implies (I - gamma P T)^-1 f >= f."""
    rng = np.random.default_rng(seed)
    f = rng.exponential(size=size[0])
    mdp = with_state_rewards(random_mdp(rng, *size, terminates=terminates), f)
    assert (mdp.values(random_policy(rng, *size), gamma) >= f - 1e-12).all()


@given(seeds, sizes, gammas)
def test_property_2_scaled_inverse_is_a_markov_operator(seed, size, gamma):
    """Lemma A.5, 2: (1 - gamma) (I - gamma P T)^-1 is positive and maps 1 to 1."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=False), random_policy(rng, *size)
    columns = [
        (1 - gamma) * with_state_rewards(mdp, unit).values(policy, gamma)
        for unit in np.eye(mdp.n_states)
    ]
    assert np.min(columns) >= -1e-15
    np.testing.assert_allclose(np.sum(columns, axis=0), 1, rtol=1e-10)


@given(seeds, sizes, gammas)
def test_property_3_adjoint_inverse_keeps_mass(seed, size, gamma):
    """Lemma A.5, 3: (1 - gamma) ||(I - gamma P T)^-* nu||_TV = ||nu||_TV for every nu >= 0."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=False), random_policy(rng, *size)
    for unit in np.eye(mdp.n_states):  # every nu >= 0 is a sum of these
        visitation = TabularMDP(mdp.transitions, mdp.rewards, unit).state_visitation(policy, gamma)
        assert np.abs(visitation).sum() == pytest.approx(1, rel=1e-10)


@given(seeds, sizes)
def test_property_4_adjoint_policy_operator_keeps_mass(seed, size):
    """Lemma A.5, 4: ||P* nu||_TV = ||nu||_TV for every nu >= 0."""
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, *size, terminates=True), random_policy(rng, *size)
    # With reward 1 for one pair and no future, J is the mass that P* nu gives to that pair.
    joint = [
        TabularMDP(mdp.transitions, unit.reshape(size), mdp.initial_distribution).objective(
            policy, 0
        )
        for unit in np.eye(mdp.rewards.size)
    ]
    np.testing.assert_allclose(joint, policy_operator(policy).T @ mdp.initial_distribution)
    assert sum(joint) == pytest.approx(1, rel=1e-12)


@given(seeds, sizes, gammas)
def test_property_5_inverse_is_bounded(seed, size, gamma):
    """Lemma A.5, 5: ||(I - gamma X P)^-1|| <= 1 / (1 - gamma ||X||) where gamma ||X|| < 1.

    The paper prints the condition as gamma < ||X||.
    """
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, *size, terminates=True)
    q = mdp.action_values(random_policy(rng, *size), gamma)
    norm = transfer(mdp).sum(axis=1).max()
    assert np.abs(q).max() <= np.abs(mdp.rewards).max() / (1 - gamma * norm) + 1e-9


def two_models(seed, size, terminates):
    rng = np.random.default_rng(seed)
    first = random_mdp(rng, *size, terminates=terminates)
    return first, random_mdp(rng, *size, terminates=terminates), random_policy(rng, *size)


@given(seeds, sizes, st.booleans(), gammas)
def test_simulation_lemma(seed, size, terminates, gamma):
    """Lemma A.6 (Simulation Lemma): two transfer operators, one reward.

    The paper prints T_2 - T_1; the identity M^-1 - N^-1 = M^-1 (N - M) N^-1 that its proof
    applies gives T_1 - T_2.
    """
    first, second, policy = two_models(seed, size, terminates)
    second = TabularMDP(second.transitions, first.rewards, second.initial_distribution)
    T1, T2, P = transfer(first), transfer(second), policy_operator(policy)
    inverse = np.linalg.inv(np.eye(len(T1)) - gamma * T1 @ P)
    difference = first.action_values(policy, gamma) - second.action_values(policy, gamma)
    expected = gamma * inverse @ (T1 - T2) @ second.values(policy, gamma)
    np.testing.assert_allclose(difference.ravel(), expected, **close)


@given(seeds, sizes, st.booleans(), gammas)
def test_simulation_lemma_with_two_rewards(seed, size, terminates, gamma):
    """Corollary A.7: both T and r change; the sign of T_1 - T_2 as in Lemma A.6."""
    first, second, policy = two_models(seed, size, terminates)
    T1, T2, P = transfer(first), transfer(second), policy_operator(policy)
    inverse = np.linalg.inv(np.eye(len(T1)) - gamma * T1 @ P)
    difference = first.action_values(policy, gamma) - second.action_values(policy, gamma)
    by_rewards = inverse @ (first.rewards - second.rewards).ravel()
    by_transitions = gamma * inverse @ (T1 - T2) @ second.values(policy, gamma)
    np.testing.assert_allclose(difference.ravel(), by_rewards + by_transitions, **close)


@given(seeds, sizes, st.booleans(), gammas)
def test_error_of_a_model_bounds_the_error_of_its_action_values(seed, size, terminates, gamma):
    """Lemma 8 (Implications of the Simulation Lemma), in the uniform norm of a finite space."""
    estimate, truth, policy = two_models(seed, size, terminates)
    error = np.abs(estimate.action_values(policy, gamma) - truth.action_values(policy, gamma))
    reward_error = np.abs(estimate.rewards - truth.rewards).max()
    transfer_error = np.abs(transfer(estimate) - transfer(truth)).sum(axis=1).max()
    reward_bound = np.abs(truth.rewards).max()
    bound = (reward_error + gamma * reward_bound / (1 - gamma) * transfer_error) / (1 - gamma)
    assert error.max() <= bound * (1 + 1e-9)
