"""Exact values of the continuous MDP, and fitted exponents."""

import numpy as np
import pytest

from powr.kernels import Exponential, Gaussian
from suite.theory import compatibility, continuous, estimation
from suite.theory.models import random_mdp
from suite.theory.simulation import transfer_estimate


def some_policy(x):
    first = 1 / (1 + np.exp(-3 * np.sin(4 * x)))
    return np.stack([first, 1 - first], axis=1)


def test_continuous_action_values_equal_those_of_a_fine_chain():
    """The same MDP cut into 4,000 cells, by iterating the Bellman equation of Eq. (7)."""
    gamma, cells = 0.9, 4000
    x = (np.arange(cells) + 0.5) / cells
    masses = np.stack([2 * (1 - x), 2 * x]) / cells
    values = np.zeros(cells)
    for _ in range(300):
        low, high = masses @ values
        q = continuous.reward(x) + gamma * (low + (high - low) * continuous.up(x))
        values = (some_policy(x) * q).sum(axis=1)
    exact = continuous.action_values(some_policy(continuous.GRID), gamma)
    for action in range(2):
        fine = np.interp(continuous.GRID, x, q[:, action])
        np.testing.assert_allclose(exact[:, action], fine, atol=1e-5)


def test_continuous_action_values_equal_simulated_returns():
    gamma, episodes, steps = 0.5, 40_000, 30
    rng = np.random.default_rng(0)
    start = 700
    x, action = np.full(episodes, continuous.GRID[start]), np.ones(episodes, dtype=int)
    returns = np.zeros(episodes)
    for step in range(steps):
        returns += gamma**step * continuous.reward(x)[np.arange(episodes), action]
        rises = rng.uniform(size=episodes) < continuous.up(x)[np.arange(episodes), action]
        root = np.sqrt(rng.uniform(size=episodes))
        x = np.where(rises, root, 1 - root)
        action = (rng.uniform(size=episodes) >= some_policy(x)[:, 0]).astype(int)
    exact = continuous.action_values(some_policy(continuous.GRID), gamma)[start, 1]
    assert returns.mean() == pytest.approx(exact, abs=5 * returns.std() / np.sqrt(episodes))


def test_continuous_data_follow_the_densities():
    x, actions, rewards, following, terminated = continuous.sample(
        100_000, np.random.default_rng(0)
    )
    assert not terminated.any()
    rises = continuous.up(x[:, 0])[np.arange(len(x)), actions]
    assert rises.min() >= 0
    assert rises.max() <= 1
    # The densities 2y and 2(1 - y) have means 2/3 and 1/3.
    assert (following[:, 0] - (1 + rises) / 3).mean() == pytest.approx(0, abs=0.005)
    assert ((following[:, 0] - 0.5) * (rises - 0.5)).mean() == pytest.approx(
        ((rises - 0.5) ** 2).mean() / 3, rel=0.1
    )
    assert rewards.min() >= 0
    assert rewards.max() <= 1


def test_fitted_exponent_of_a_power_law():
    sizes = np.array([100, 400, 1600])
    fitted = estimation.fitted_exponent(sizes, np.outer([1.0, 2.0, 0.5], sizes**-0.5))
    assert fitted.value == pytest.approx(0.5)
    assert fitted.interval == pytest.approx((0.5, 0.5))


def test_interval_of_the_exponent_covers_its_seeds():
    sizes = np.array([10.0, 1000.0])
    fitted = estimation.fitted_exponent(sizes, np.array([sizes**-0.4, sizes**-0.6]))
    assert fitted.value == pytest.approx(0.5)
    # t of one degree of freedom: 12.706 times 0.1
    assert fitted.interval == pytest.approx((0.5 - 1.2706, 0.5 + 1.2706), rel=1e-4)


def test_errors_fall_at_the_parametric_rate_on_tables():
    sizes = np.array([1600, 6400, 25_600])
    mdp = random_mdp(0)
    errors = [[estimation.tabular_error(mdp, 0.9, n, seed) for n in sizes] for seed in range(8)]
    fitted = estimation.fitted_exponent(sizes, np.array(errors))
    assert fitted.interval.low < estimation.TABULAR_RATE < fitted.interval.high


def test_errors_fall_on_the_continuous_mdp():
    early, late = (
        np.median([estimation.continuous_error(0.9, n, seed) for seed in range(3)])
        for n in (100, 3200)
    )
    assert late < early * 32**-estimation.CONTINUOUS_RATE


def behave(kernel, n, seed=0):
    return compatibility.behaviour(
        kernel, n, seed, gamma=0.9, regularization=1e-6, step_size=1.0, steps=20
    )


def test_exponential_kernel_never_explodes():
    """|q_n| is at most max |r_n| / (1 - gamma), so no error can exceed twice that."""
    outcomes = [behave(Exponential(0.5), 25, seed) for seed in range(5)]
    assert max(outcome.norm for outcome in outcomes) <= 1
    assert max(outcome.error for outcome in outcomes) < 2 / (1 - 0.9)


def test_gaussian_kernel_explodes_on_few_data():
    outcomes = [behave(Gaussian(0.1), 25, seed) for seed in range(5)]
    assert max(outcome.norm for outcome in outcomes) > 10
    assert max(outcome.error for outcome in outcomes) > 20


def test_error_is_measured_along_the_descent():
    """A first step on many data errs no more than twenty."""
    one = compatibility.behaviour(
        Gaussian(0.5), 200, 0, gamma=0.9, regularization=1e-6, step_size=1.0, steps=1
    )
    assert 0 < one.error <= behave(Gaussian(0.5), 200).error


def test_model_errors_fall_on_tables():
    """Eqs. (C.3), (C.4): the Hilbert-Schmidt error of T_n falls like n^-1/2, that of r_n faster.

    Rewards are the same whenever a pair is visited, so only the ridge keeps r_n from r.
    """
    mdp = random_mdp(0)
    sizes, states = np.array([1600, 6400, 25_600]), np.arange(mdp.n_states)
    transfer, reward = [], []
    for seed in range(8):
        fitted = [estimation.tabular_model(mdp, n, seed) for n in sizes]
        estimates = [transfer_estimate(model, mdp.n_states) for model in fitted]
        transfer.append([np.linalg.norm(T_n - mdp.transitions.toarray()) for T_n in estimates])
        reward.append([np.linalg.norm(model.reward(states) - mdp.rewards) for model in fitted])
    exponent = estimation.fitted_exponent(sizes, np.array(transfer))
    assert exponent.value == pytest.approx(0.5, abs=0.05)
    assert estimation.fitted_exponent(sizes, np.array(reward)).value == pytest.approx(1, abs=0.05)
