"""Where the paper's statements or proofs fail, each by its smallest case, and what does hold.

Each test asserts the hypotheses of the statement. docs/theory.md tells what it means.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from powr.kernels import Exponential, Gaussian
from powr.literal import algorithm1, gaussian
from powr.mirror_descent import kl_step, softmax
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from suite.theory import counterexamples
from suite.theory.estimation import transfer_estimate, transfer_norm, uniform_norm
from tests.reference.data import random_mdp, random_policy
from tests.reference.tabular import policy_operator, transfer_operator

seeds = st.integers(0, 2**32 - 1)


class TestAppendixA:
    def test_condition_of_the_inverse_bound(self):
        """Lemma A.5 (5) asks for gamma < ||X||: one state, X = 2, gamma = 1/2 is singular."""
        gamma, X = 0.5, np.array([[2.0]])
        assert gamma < np.linalg.norm(X)
        assert np.linalg.det(np.eye(1) - gamma * X) == 0
        # X = 3: the printed bound is negative, so no norm can be below it.
        assert counterexamples.condition_of_the_inverse().printed.right == -2

    def test_sign_of_the_simulation_lemma(self):
        """T_1 = 0.4, T_2 = 0: q_1 - q_2 is 1/4, the printed one -1/4."""
        case = counterexamples.sign_of_the_simulation_lemma()
        assert (case.printed.left, case.corrected.left) == pytest.approx((0.5, 0))

    def test_a_markov_operator_that_is_no_policy_operator(self):
        """Prop. A.2: two states, one action, P swaps the states."""
        P = counterexamples.SWAP
        assert (P >= 0).all()
        np.testing.assert_array_equal(P @ np.ones(2), 1)
        policy_of_P = (P @ np.ones(2))[:, None]  # pi_P(B|x) = (P 1_(X x B))(x)
        assert not np.array_equal(policy_operator(policy_of_P), P)
        f, g = np.array([1.0, 0.0]), np.ones(2)
        assert not np.array_equal(P @ (f * g), f * (P @ g))

    def test_proof_of_the_directional_derivative(self):
        """Cor. A.4: its proof takes T P for P T and leaves 1 - gamma out of d, hence 1/(1 - gamma).

        T P maps functions of pairs to such functions, so its adjoint takes no measure on states.
        """
        gamma, start = 0.9, np.array([0.5, 0.3, 0.2])
        mdp = random_mdp(np.random.default_rng(0), 3, 2, terminates=False)
        mdp = TabularMDP(mdp.transitions, mdp.rewards, start)
        first, second = (random_policy(np.random.default_rng(seed), 3, 2) for seed in (1, 2))
        T = transfer_operator(mdp.transitions.toarray().reshape(3, 2, 3))
        P = policy_operator(second)
        assert (T @ P).shape == (6, 6)
        unscaled = np.linalg.solve((np.eye(3) - gamma * P @ T).T, start)
        visits = mdp.state_visitation(second, gamma)
        np.testing.assert_allclose((1 - gamma) * unscaled, visits)
        gain = ((second - first) * mdp.action_values(first, gamma)).sum(axis=1)
        difference = mdp.objective(second, gamma) - mdp.objective(first, gamma)
        assert difference == pytest.approx(gain @ unscaled)
        assert difference == pytest.approx(gain @ visits / (1 - gamma))


class TestMonotoneStep:
    """Proof of Thm. 7: J(pi_t) <= J(pi_T) + eps_t + eps_T, for which it cites Eq. (B.6)."""

    def test_fails_in_the_class_of_proposition_3(self):
        """gamma ||T_n|| = 0.99, bounded rewards that are not negative, errors as measured."""
        gamma, mdp = counterexamples.ABSORBING_GAMMA, counterexamples.absorbing_mdp()
        T_n, r_n = counterexamples.ABSORBING_TRANSFER, counterexamples.ABSORBING_REWARDS
        np.testing.assert_array_equal(mdp.transitions.toarray().sum(axis=1), 1)
        assert 0 <= mdp.rewards.min() <= mdp.rewards.max() <= 1
        assert gamma * uniform_norm(T_n) == pytest.approx(0.99)
        # T_n = S* B Z and r_n = S* b, with one-hot features and each pair visited once.
        S, Z, b = np.eye(4), np.repeat(np.eye(2), 2, axis=0), r_n.ravel()
        B = np.array([[0, 0, -1.1, 0], [0, 0, -1.1, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        np.testing.assert_array_equal(S.T @ B @ Z, T_n)
        M = Z @ policy_operator(np.full((2, 2), 0.5)) @ S.T
        q = S.T @ np.linalg.solve(np.eye(4) - gamma * B @ M, b)  # Eq. (12)
        exact = mdp.action_values(np.full((2, 2), 0.5), gamma)
        objectives, errors = counterexamples.absorbing_descent(steps=50)
        assert errors[0] == pytest.approx(np.abs(q - exact.ravel()).max())
        assert (objectives[0], errors[0]) == pytest.approx((5, 1))
        assert (objectives[50], errors[50]) == pytest.approx((0, 1.45))
        assert counterexamples.monotone_step().printed.right == pytest.approx(2.45)

    def test_fails_for_algorithm_1_as_printed(self):
        """Five transitions of three states: a policy worth 9.97 of 10 is lost in one step.

        Action 0 leads to 0.8, action 1 to -0.2, which pays 1 unless taken in 0.8. All pairs were
        tried once but the best one, action 1 in -0.2.
        """
        states, gamma = np.array([[0.8], [-0.6], [-0.2]]), 0.9
        visits, actions = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
        rewards = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        transitions = np.tile([[1.0, 0, 0], [0, 0, 1.0]], (3, 1, 1))
        mdp = TabularMDP.from_arrays(transitions, rewards=rewards, initial_distribution=[0, 0, 1])
        data = states[visits], actions, rewards[visits, actions], states[2 * actions]
        settings = {"n_actions": 2, "gamma": gamma, "step_size": 1.0, "regularization": 1e-5}
        weights = algorithm1(*data, kernel=gaussian(1.0), iterations=3, **settings).weights
        model = WorldModel(Gaussian(1.0), 2, regularization=1e-5).fit(*data, [False] * 5)
        objectives, errors = [], []
        for C in weights:

            def policy(x, C=C):
                return softmax(Gaussian(1.0)(x, states[visits]) @ C)

            q, exact = model.action_values(policy, gamma), mdp.action_values(policy(states), gamma)
            objectives.append(mdp.objective(policy(states), gamma))
            errors.append(np.abs(q(states) - exact).max())
        assert objectives == pytest.approx([2.75, 6.83, 9.97, 0], abs=0.01)
        assert (errors[0], errors[3]) == pytest.approx((0.42, 0.19), abs=0.01)
        assert objectives[0] > objectives[3] + errors[0] + errors[3] + 2
        # Lemma 8 excludes it, but the step of the proof does not ask for gamma ||T_n|| < 1.
        norm = transfer_norm(Gaussian(1.0), states[visits], actions, 1e-5, states)
        assert gamma * norm == pytest.approx(1.001, abs=1e-3)

    @given(seeds)
    def test_holds_where_the_world_model_is_an_mdp(self, seed):
        """The Dirac kernel: mirror descent is exact in the empirical MDP, where (B.6) holds."""
        rng = np.random.default_rng(seed)
        truth = random_mdp(rng, 3, 2, terminates=True)
        model = random_mdp(rng, 3, 2, terminates=True)  # any other MDP as the estimate
        policy = random_policy(rng, 3, 2)
        objectives, errors = np.zeros((2, 8))
        for step in range(8):
            estimate = model.action_values(policy, 0.9)
            objectives[step] = truth.objective(policy, 0.9)
            errors[step] = np.abs(estimate - truth.action_values(policy, 0.9)).max()
            policy = kl_step(policy, estimate, 1.0)
        excess = np.subtract.outer(objectives - errors, objectives + errors)  # t by T
        assert np.triu(excess, 1).max() <= 1e-9


class TestLemma8:
    def test_uniform_norm_of_v_is_too_small(self):
        truth, model, policy, gamma = counterexamples.unvisited_state()
        np.testing.assert_array_equal(truth.transitions.toarray().sum(axis=1), 1)
        assert 0 <= truth.rewards.min() <= truth.rewards.max() <= 1
        np.testing.assert_array_equal(policy, 1)  # one action: P is the identity
        assert gamma * uniform_norm(transfer_estimate(model, 3)) < 0.1 + 1e-9
        printed, corrected = counterexamples.simulation_lemma()
        assert printed.left == pytest.approx(0.1 / 0.9)
        assert printed.right == pytest.approx(0.1 / 0.81 / np.sqrt(2), rel=1e-6)
        assert not printed.holds
        assert corrected.holds

    def test_printed_bound_shrinks_with_the_features(self):
        """Error and corrected bound do not depend on the scale of the features."""
        one = counterexamples.simulation_lemma()
        for scale in (0.1, 0.01):
            printed, corrected = counterexamples.simulation_lemma(scale)
            assert printed.right == pytest.approx(scale * one.printed.right, rel=1e-6)
            assert corrected.right == pytest.approx(one.corrected.right)


class TestInvertibility:
    """Lemma 8 assumes gamma ||T_n|| < 1, and Prop. 3 that Id - gamma T_n P is invertible.

    Neither comes by itself. With one action P is the identity. True action values lie between 0
    and 1 / (1 - gamma).
    """

    def test_two_gaussian_transitions_with_infinite_action_values(self):
        """x -> 2x from -1/2 and 1/2, rewards 0 and 1. Outside Cor. 6: no Sobolev kernel."""
        states = np.array([[-0.5], [0.5]])
        pole, q = evaluated(Gaussian(1.0), states, 2 * states, [0.0, 1.0])
        assert pole == pytest.approx(0.7053, abs=1e-4)
        assert abs(q(pole - 1e-6)).max() > 1e4
        assert q(0.8)[1] < 0

    def test_three_exponential_transitions_with_infinite_action_values(self):
        """Within Cor. 6: the plane, s = 3/2. Rewards are 0 and 1, values below -10."""
        corners = np.array([[0.1, 0.0], [0.0, 0.1], [0.1, 0.1]])
        following = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.1]])
        pole, q = evaluated(Exponential(1.0), corners, following, [1.0, 1.0, 0.0])
        assert pole == pytest.approx(0.9665, abs=1e-4)
        assert q(0.99)[0] == pytest.approx(q(0.99)[1])
        assert q(0.99)[0] < -10


def evaluated(kernel, states, following, rewards):
    """The gamma for which K_lambda - gamma M is singular, and the estimated values by gamma."""
    n = len(states)
    model = WorldModel(kernel, 1, regularization=1e-9)
    model.fit(states, [0] * n, rewards, following, [False] * n)
    K, M = kernel(states, states) + n * 1e-9 * np.eye(n), kernel(following, states)
    pole = brentq(lambda gamma: np.linalg.det(K - gamma * M), 0.5, 0.99)
    return pole, lambda gamma: model.action_values(lambda x: np.ones((len(x), 1)), gamma)(states)[
        :, 0
    ]


def test_loop_of_algorithm_1_runs_one_behind_equation_15():
    """The loop calls softmax(eta H C_t) pi_(t+1); by Eq. (15) and the last line it is pi_t."""
    states = [[0.0], [1.0], [0.5]]
    data = states, [0, 1, 1], [1.0, 0.0, 0.5], states
    settings = {"n_actions": 2, "gamma": 0.5, "step_size": 1.0, "regularization": 0.1}
    none, one = (
        algorithm1(*data, kernel=gaussian(1.0), iterations=iterations, **settings)
        for iterations in (0, 1)
    )
    np.testing.assert_allclose(none.policy(states), 0.5)  # pi_0, which the loop calls pi_1
    assert np.abs(one.policy(states) - 0.5).max() > 0.01  # pi_1 has seen one q
