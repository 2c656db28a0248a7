"""TabularMDP against dense operators, brute-force recursion and simulated episodes."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from powr.tabular import TabularMDP
from tests.reference import tabular as reference
from tests.reference.data import random_mdp, random_policy

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 8), st.integers(1, 4))


def two_state_chain(**changes) -> TabularMDP:
    """State 0 goes to 1 with reward 1; state 1 ends with reward 10 or returns to 0 with -1."""
    model = {
        "transitions": [[[0, 1], [0, 1]], [[0, 0], [1, 0]]],
        "rewards": [[1, 1], [10, -1]],
        "initial_distribution": [1, 0],
    } | changes
    return TabularMDP.from_arrays(model.pop("transitions"), **model)


@pytest.mark.parametrize(
    ("env_id", "kwargs"), [("FrozenLake-v1", {"map_name": "8x8"}), ("CliffWalking-v1", {})]
)
def test_values_of_environments_equal_the_explicit_inverse_and_brute_force(env_id, kwargs):
    env = gymnasium.make(env_id, **kwargs)
    mdp = TabularMDP.from_env(env)
    transitions, rewards = reference.read_table(env)
    policy = random_policy(np.random.default_rng(0), mdp.n_states, mdp.n_actions)
    expected = reference.action_values(transitions, rewards, policy, 0.99)
    np.testing.assert_allclose(mdp.action_values(policy, 0.99), expected, rtol=1e-9, atol=1e-10)
    initial = env.unwrapped.initial_state_distrib
    expected = reference.expected_return(transitions, rewards, initial, policy, 30)
    assert mdp.expected_return(policy, 30) == pytest.approx(expected, rel=1e-12)


@given(seeds, sizes, st.booleans(), st.sampled_from([0.0, 0.5, 0.9, 0.999]))
def test_action_values_of_random_mdps_equal_the_explicit_inverse(seed, size, terminates, gamma):
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, *size, terminates=terminates)
    policy = random_policy(rng, *size)
    transitions = mdp.transitions.toarray().reshape(*size, size[0])
    expected = reference.action_values(transitions, mdp.rewards, policy, gamma)
    np.testing.assert_allclose(mdp.action_values(policy, gamma), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        mdp.values(policy, gamma), (policy * expected).sum(axis=1), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    ("env_id", "kwargs", "optimum"),
    [
        ("FrozenLake-v1", {"is_slippery": False}, 1.0),
        ("FrozenLake-v1", {"is_slippery": True}, 0.744),
        ("Taxi-v3", {}, 7.93),
    ],
)
def test_optimal_return_within_the_time_limit(env_id, kwargs, optimum):
    mdp = TabularMDP.from_env(gymnasium.make(env_id, **kwargs))
    assert mdp.optimal_return() == pytest.approx(optimum, abs=5e-4)


@given(seeds, sizes, st.booleans(), st.sampled_from([0.0, 0.5, 0.9]))
def test_optimal_action_values_equal_value_iteration(seed, size, terminates, gamma):
    mdp = random_mdp(np.random.default_rng(seed), *size, terminates=terminates)
    transitions = mdp.transitions.toarray().reshape(*size, size[0])
    expected = reference.optimal_action_values(transitions, mdp.rewards, gamma, iterations=400)
    np.testing.assert_allclose(mdp.optimal_action_values(gamma), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transitions": np.zeros((2, 2))}, r"shape \(states, actions, states\), not \(2, 2\)"),
        ({"transitions": np.full((2, 2, 2), 0.6)}, "state 0 under action 0 sum to 1.2"),
        ({"transitions": np.full((2, 2, 2), -0.1)}, "transitions must not be negative"),
        ({"rewards": np.zeros((2, 3))}, r"transitions must have shape \(6, 2\)"),
        ({"rewards": np.full((2, 2), np.inf)}, "rewards must be finite"),
        ({"initial_distribution": [0.5, 0.6]}, "must sum to 1, not 1.1"),
    ],
)
def test_bad_models_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        two_state_chain(**changes)


def test_environments_without_a_table_or_with_a_bad_one_are_errors():
    with pytest.raises(ValueError, match=r"CartPole.*env\.unwrapped\.P is missing"):
        TabularMDP.from_env("CartPole-v1")
    env = gymnasium.make("FrozenLake-v1")
    env.unwrapped.P[3][2] = [(0.5, 0, 0.0, False)]
    with pytest.raises(ValueError, match=r"P\[3\]\[2\].*sums to 0.5"):
        TabularMDP.from_env(env)


def test_the_horizon_is_given_or_the_time_limit():
    mdp = TabularMDP.from_env(gymnasium.make("FrozenLake-v1", max_episode_steps=3))
    assert mdp.horizon == 3
    assert mdp.optimal_return() == 0  # the goal is six steps away
    assert mdp.optimal_return(horizon=6) > 0
    with pytest.raises(ValueError, match="give a horizon"):
        two_state_chain().expected_return(np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="horizon must lie between 0"):
        mdp.optimal_return(-1)
    with pytest.raises(ValueError, match="gamma must be at least 0 and less than 1, got 1"):
        mdp.optimal_action_values(1.0)
