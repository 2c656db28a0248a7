"""The world model against Algorithm 1, exact policy evaluation and ridge LSTD-Q."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from powr import literal
from powr.kernels import Dirac, Exponential, Gaussian
from powr.literal import algorithm1
from powr.mirror_descent import mirror_descent, softmax
from powr.solvers import exact
from powr.tabular import TabularMDP
from powr.world_model import WorldModel
from tests.reference.data import Transitions, exact_frequencies, random_policy
from tests.reference.lstd import lstd_q

seeds = st.integers(0, 2**32 - 1)
N_ACTIONS = 3

KERNELS = {
    "Dirac": (Dirac(), literal.dirac()),
    "Gaussian": (Gaussian([0.5, 1.5]), literal.gaussian([0.5, 1.5])),
    "Exponential": (Exponential([0.5, 1.5]), literal.exponential([0.5, 1.5])),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
METHODS = [(name, method) for name in KERNELS for method in ("exact", "nystrom")]
every_solver = pytest.mark.parametrize(("kernel", "method"), METHODS)


def sample_transitions(rng: np.random.Generator, n: int) -> Transitions:
    """Steps between few places in the plane: states and pairs repeat, and some episodes end."""
    places = rng.normal(size=(n // 2, 2))
    return Transitions(
        places[rng.integers(len(places), size=n)],
        rng.integers(N_ACTIONS, size=n),
        rng.normal(size=n),
        places[rng.integers(len(places), size=n)],
        rng.random(n) < 0.2,
    )


def linear_softmax_policy(rng: np.random.Generator):
    weights = rng.normal(size=(2, N_ACTIONS))
    return lambda states: softmax(np.asarray(states) @ weights)


def fitted(data: Transitions, kernel: str = "Exponential", **parameters) -> WorldModel:
    return WorldModel(KERNELS[kernel][0], N_ACTIONS, **parameters).fit(*data)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("FrozenLake-v1", {"is_slippery": False}),
        ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": True}),
        ("Taxi-v3", {}),
        ("CliffWalking-v1", {}),
    ],
)
@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_action_values_of_environments_are_exact(env_id, kwargs, gamma):
    """Prop. 3 with the Dirac kernel and lambda -> 0 is Eq. (7)."""
    mdp = TabularMDP.from_env(gymnasium.make(env_id, **kwargs))
    model = WorldModel(Dirac(), mdp.n_actions, regularization=1e-15).fit(*exact_frequencies(mdp))
    rng = np.random.default_rng(0)
    for _ in range(3):
        policy = random_policy(rng, mdp.n_states, mdp.n_actions)
        q = model.action_values(policy.__getitem__, gamma)(np.arange(mdp.n_states))
        np.testing.assert_allclose(q, mdp.action_values(policy, gamma), rtol=1e-8, atol=1e-14)


# Not less: the error of the printed inverses grows like regularization^-3 and reaches 1e-5 at 1e-6.
@pytest.mark.parametrize("regularization", [1e-4, 1e-2, 1.0])
@every_kernel
@settings(max_examples=20)
@given(seed=seeds)
def test_exact_solver_equals_algorithm_1(kernel, regularization, seed):
    """Algorithm 1, five iterations: the c of each, and the policy that it returns."""
    rng = np.random.default_rng(seed)
    data, step_size, gamma = sample_transitions(rng, 24), 0.3, 0.9
    k = KERNELS[kernel][1]
    solution = algorithm1(
        *data[:4],
        kernel=k,
        n_actions=N_ACTIONS,
        terminated=data.terminated,
        gamma=gamma,
        step_size=step_size,
        regularization=regularization,
        iterations=5,
    )
    model = fitted(data, kernel, method="exact", regularization=regularization)
    queries = np.concatenate([data.states, rng.normal(size=(10, 2))])
    similarity = literal.gram(k, queries, data.states)
    one_hot = np.eye(N_ACTIONS)[data.actions]

    for t, c in enumerate(solution.coefficients):

        def policy(states, C=solution.weights[t]):
            return softmax(step_size * literal.gram(k, states, data.states) @ C)

        q = similarity @ (c[:, None] * one_hot)
        close = {"rtol": 1e-8, "atol": 1e-8 * np.abs(q).max()}
        np.testing.assert_allclose(model.action_values(policy, gamma)(queries), q, **close)
    uniform = np.zeros((len(model.states_), N_ACTIONS))
    descent = mirror_descent(model, uniform, steps=5, step_size=step_size, gamma=gamma)
    found = softmax(model.function(descent.coefficients)(queries))
    np.testing.assert_allclose(found, solution.policy(queries), rtol=1e-8)
    at_states = model.function(descent.coefficients)(model.states_)
    np.testing.assert_allclose(descent.exponents, at_states, rtol=1e-8, atol=1e-10)


@every_solver
@pytest.mark.parametrize("regularization", [1e-4, 1.0])
def test_kernel_form_equals_ridge_lstd_q_on_explicit_features(kernel, method, regularization):
    """Prop. 3 in primal form, with features from the eigenvectors of the Gram matrix."""
    rng = np.random.default_rng(3)
    data, policy, gamma = sample_transitions(rng, 30), linear_softmax_policy(rng), 0.95
    everywhere = np.concatenate([data.states, data.next_states])
    eigenvalues, vectors = np.linalg.eigh(literal.gram(KERNELS[kernel][1], everywhere, everywhere))
    features = vectors * np.sqrt(eigenvalues.clip(min=0))
    weights = lstd_q(
        features[:30],
        data.actions,
        data.rewards,
        features[30:],
        policy(data.next_states),
        data.terminated,
        gamma=gamma,
        regularization=regularization,
    )
    q = fitted(data, kernel, method=method, regularization=regularization).action_values(
        policy, gamma
    )
    expected = features @ weights.T
    np.testing.assert_allclose(
        q(everywhere), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()
    )


@every_solver
@pytest.mark.parametrize("tolerance", [1e-10, 0.1])
@pytest.mark.parametrize("chunk", [5, 40])
def test_bellman_identity(kernel, method, tolerance, chunk):
    """Prop. 3: q = r_n + gamma T_n P q, also at states never seen and in a coarse dictionary."""
    rng = np.random.default_rng(4)
    data, policy, gamma = sample_transitions(rng, 40), linear_softmax_policy(rng), 0.95
    model = WorldModel(
        KERNELS[kernel][0], N_ACTIONS, method=method, regularization=1e-3, tolerance=tolerance
    )
    for start in range(0, 40, chunk):
        model.partial_fit(*data.rows(slice(start, start + chunk)))
    q = model.action_values(policy, gamma)

    def value(states):
        return (policy(states) * q(states)).sum(axis=1)

    queries = np.concatenate([data.states, rng.normal(size=(10, 2))])
    onward = model.expect(value, queries, past_termination=False)
    np.testing.assert_allclose(
        q(queries), model.reward(queries) + gamma * onward, rtol=1e-8, atol=1e-8
    )


@every_solver
def test_reward_and_expectation_are_kernel_ridge_regressions(kernel, method):
    """Eq. (10): r_n = S* K_lambda^-1 y and T_n f = S* K_lambda^-1 f(x')."""
    rng = np.random.default_rng(5)
    data, k, regularization = sample_transitions(rng, 40), KERNELS[kernel][1], 1e-2
    model = fitted(data, kernel, method=method, regularization=regularization)
    one_hot = np.eye(N_ACTIONS)[data.actions]
    K = literal.gram(k, data.states, data.states) * (one_hot @ one_hot.T)
    queries = np.concatenate([data.states, rng.normal(size=(10, 2))])
    similarity = literal.gram(k, queries, data.states)

    def regression(targets):
        b = np.linalg.inv(K + 40 * regularization * np.eye(40)) @ targets
        return similarity @ (b[:, None] * one_hot)

    def f(states):
        return np.sin(states[:, 0]) + states[:, 1] ** 2

    close = {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(model.reward(queries), regression(data.rewards), **close)
    np.testing.assert_allclose(model.expect(f, queries), regression(f(data.next_states)), **close)
    np.testing.assert_allclose(
        model.expect(f, queries, past_termination=False),
        regression(np.where(data.terminated, 0, f(data.next_states))),
        **close,
    )


@pytest.mark.parametrize("kernel", [Dirac(), Exponential(1e-3), Gaussian(1e-3)])
@pytest.mark.parametrize("method", ["exact", "nystrom"])
@pytest.mark.parametrize(("last", "values"), [(True, [1 + 0.5 * 10, 10]), (False, [8, 14])])
def test_termination_ends_the_value_and_truncation_does_not(kernel, method, last, values):
    """Two steps, 0 -> 1 with reward 1 and 1 -> 0 with reward 10; gamma is one half.

    Truncated, v0 = 1 + v1 / 2 and v1 = 10 + v0 / 2.
    """
    model = WorldModel(kernel, 1, regularization=1e-12, method=method)
    model.fit([[0.0], [1.0]], [0, 0], [1.0, 10.0], [[1.0], [0.0]], [False, last])
    q = model.action_values(lambda states: np.ones((len(states), 1)), 0.5)
    np.testing.assert_allclose(q([[0.0], [1.0]]).ravel(), values, rtol=1e-9)


def test_auto_is_exact_for_the_dirac_kernel_and_for_up_to_max_rank_pairs():
    rng = np.random.default_rng(0)
    assert fitted(sample_transitions(rng, 30)).method_ == "exact"
    many = Transitions(
        np.arange(2500), np.zeros(2500, int), np.zeros(2500), np.arange(2500), np.zeros(2500, bool)
    )
    assert WorldModel(Dirac(), 1).fit(*many).method_ == "exact"
    in_a_box = many._replace(states=many.states[:, None], next_states=many.states[:, None])
    model = WorldModel(Gaussian(500.0), 1, max_rank=50).fit(*in_a_box.rows(slice(50)))
    assert model.method_ == "exact"
    assert model.partial_fit(*in_a_box.rows(slice(50, None))).method_ == "nystrom"
    assert model.n_transitions_ == 2500


def test_fit_forgets_what_was_fitted_before():
    rng = np.random.default_rng(0)
    first, second = sample_transitions(rng, 30), sample_transitions(rng, 30)
    policy = linear_softmax_policy(rng)
    refitted = fitted(first).fit(*second)
    np.testing.assert_array_equal(
        refitted.action_values(policy, 0.9)(second.states),
        fitted(second).action_values(policy, 0.9)(second.states),
    )


def test_negative_zero_is_zero():
    zeros = [[0.0], [-0.0]]
    model = WorldModel(Dirac(), 1).fit(zeros, [0, 0], [1.0, 3.0], zeros, [1, 1])
    assert len(model.states_) == 1
    assert model.reward([[-0.0]]) == pytest.approx(2, rel=1e-5)


BAD_DATA = [
    ({"actions": [0]}, ValueError, "one length .*2, 1"),
    ({"next_states": [[0.0], [0.0]]}, ValueError, r"next_states must have shape \(n, 2\)"),
    ({"next_states": [[0.0, 0.0], [np.inf, 0.0]]}, ValueError, "next_states must be .*row 1"),
    ({"rewards": [0.0, np.nan]}, ValueError, "rewards must be finite .*, got nan at row 1"),
    ({"actions": [0, 2]}, ValueError, "actions must lie between 0 and 1, got 2 at row 1"),
    ({"actions": [0.0, 1.0]}, TypeError, "actions must be integers"),
    ({"terminated": [0.5, 0]}, ValueError, "terminated must be true or false"),
    ({"states": [["a", "b"], ["c", "d"]]}, TypeError, "states must be numbers"),
]
GOOD_DATA = {
    "states": [[0.0, 0.0], [1.0, 1.0]],
    "actions": [0, 1],
    "rewards": [0.0, 1.0],
    "next_states": [[1.0, 1.0], [0.0, 0.0]],
    "terminated": [False, True],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("regularization", 0.0),
        ("n_actions", 0),
        ("max_rank", 0),
        ("tolerance", -1e-3),
        ("method", ""),
    ],
)
def test_bad_parameters_are_named_at_fit(name, value):
    model = WorldModel(**{"kernel": Exponential(1.0), "n_actions": 2} | {name: value})
    with pytest.raises(ValueError, match=f"{name} must"):
        model.fit(**GOOD_DATA)


@pytest.mark.parametrize(("changes", "error", "message"), BAD_DATA)
def test_bad_data_are_named_and_change_nothing(changes, error, message):
    bad = GOOD_DATA | changes
    with pytest.raises(error, match=message):
        WorldModel(Exponential(1.0), 2).fit(**bad)
    model = WorldModel(Exponential(1.0), 2).fit(**GOOD_DATA)
    before = model.reward([[0.5, 0.5]])
    with pytest.raises(error, match=message):
        model.partial_fit(**bad)
    assert model.n_transitions_ == 2
    np.testing.assert_array_equal(model.reward([[0.5, 0.5]]), before)


def test_an_exact_solve_too_large_for_memory_is_refused(monkeypatch):
    data = sample_transitions(np.random.default_rng(0), 40)
    model = fitted(data, method="exact", regularization=1e-3)
    monkeypatch.setattr(exact, "LARGEST_SYSTEM", 2**10)
    with pytest.raises(MemoryError, match="method="):
        model.action_values(linear_softmax_policy(np.random.default_rng(0)), 0.9)


def test_a_policy_or_function_that_does_not_fit_and_a_model_without_data_say_so():
    model = WorldModel(Exponential(1.0), 2)
    for ask in (model.reward, model.at_states, model.function):
        with pytest.raises(ValueError, match="no data yet: call fit"):
            ask(np.zeros((1, 1)))
    assert not hasattr(model, "states_")
    model.fit(**GOOD_DATA)
    with pytest.raises(ValueError, match=r"probabilities must have shape \(2, 2\).*got \(2, 3\)"):
        model.action_values(lambda states: np.full((2, 3), 1 / 3), 0.9)
    with pytest.raises(ValueError, match="states must have shape"):
        model.reward([0.0, 0.0])
    with pytest.raises(ValueError, match=r"f must return .* shape \(2,\) .*, got \(2, 1\)"):
        model.expect(lambda states: np.ones((2, 1)), np.eye(2))
