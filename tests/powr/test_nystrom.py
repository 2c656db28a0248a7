"""Nystrom on all data against the exact solve, on transitions of MountainCar-v0."""

import tracemalloc

import numpy as np
import pytest

from powr import POWR, world_model
from powr.kernels import Exponential, Gaussian
from powr.mirror_descent import softmax
from powr.solvers import nystrom
from powr.solvers.nystrom import Dictionary, Factors
from powr.world_model import WorldModel

KERNEL = Gaussian([0.1, 0.01])
# At seeds 1000 to 1004 the largest difference of probabilities after fifteen epochs is 0.017,
# 0.0002, 0.0002, 0.0003 and 0.0001: it grows from epoch to epoch, fastest where action values
# overshoot (1000). At a tolerance of 1e-8 it would stay below 1e-4 for all five.
SEED, N_EPOCHS = 1001, 15


def agent_with(method):
    return POWR("MountainCar-v0", kernel=KERNEL, method=method, max_rank=1000, seed=SEED)


@pytest.fixture(scope="module")
def agents():
    """Fifteen epochs by Nystrom, and the exact solve fed with the same transitions."""
    agent, exact = agent_with("nystrom"), agent_with("exact")

    def follow(agent):
        planned = exact.num_timesteps
        if agent.n_plans_ > exact.n_plans_:
            exact.data.begin_episode()
            *columns, ended = *agent.data.columns(planned), agent.data.ended[planned:]
            for *transition, last in zip(*columns, ended, strict=True):
                exact.data.append(tuple(transition), last)
            exact._improve_policy()
        return agent.n_plans_ < N_EPOCHS

    return agent.learn(10_000, callback=follow), exact


@pytest.fixture(scope="module")
def data(agents):
    return agents[0].data.columns()


def part_of(data, start, stop):
    return [column[start:stop] for column in data]


def uniform(states):
    return np.full((len(states), 3), 1 / 3)


def sharp(states):
    """A policy far from the uniform one."""
    return softmax(100 * states @ np.array([[1.0, 0.0, -1.0], [30.0, 0.0, -30.0]]))


def test_fifteen_epochs_equal_the_exact_solve_on_all_data(agents):
    agent, exact = agents
    states = exact.model_.states_
    assert len(states) > 2800
    assert agent.model_.rank_ < 1000
    probabilities, expected = (each.action_probabilities(states) for each in agents)
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-3)
    assert (probabilities.argmax(axis=1) == expected.argmax(axis=1)).mean() >= 0.99


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
@pytest.mark.parametrize(("portion", "n"), [(5, 1000), (200, 2900), (2900, 2900)])
def test_data_in_portions_equal_the_exact_solve(data, portion, n, tolerance):
    """To ten times the tolerance, as a share of the range of the action values."""
    model = WorldModel(KERNEL, 3, method="nystrom", tolerance=tolerance)
    for start in range(0, n, portion):
        model.partial_fit(*part_of(data, start, min(n, start + portion)))
    exact = WorldModel(KERNEL, 3, method="exact").fit(*part_of(data, 0, n))
    assert model.n_transitions_ == n
    q, expected = (each.action_values(uniform, 0.99)(exact.states_) for each in (model, exact))
    np.testing.assert_allclose(q, expected, rtol=0, atol=10 * tolerance * np.ptp(expected))


def direct_solve(model, policy):
    """The action values at the model's states by one factorisation in double precision."""
    solver, data = model._ready_solver(), model._data
    ridge = data.size * model.regularization
    system = solver._system(policy(model.states_), 0.99, ridge, np.float64)
    size = solver.rank * 3
    right = (solver._phi.T @ solver._by_state(data.pair_reward)).T.ravel()
    weights = np.linalg.solve(system.reshape(size, size), right).reshape(3, -1).T
    return solver.at_states(weights)


def assert_solves(model, policy):
    expected = direct_solve(model, policy)
    q = model.at_states(model.solve(policy(model.states_), 0.99))
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-7 * np.ptp(expected))


def test_products_reach_the_accuracy_of_the_direct_solve(data):
    """Factors in single precision, of this policy, of another one, and of fewer data and pivots."""
    model = WorldModel(KERNEL, 3, method="nystrom").fit(*part_of(data, 0, 1500))
    for policy in (uniform, sharp, uniform):
        assert_solves(model, policy)
    solver, rank = model._ready_solver(), model.rank_
    factors = solver.factors
    model.partial_fit(*part_of(data, 1500, 1505))
    assert model.rank_ > rank
    assert_solves(model, uniform)
    assert solver.factors is factors  # they precondition pivots that came later, too
    model.partial_fit(*part_of(data, 1505, 2900))
    assert_solves(model, sharp)
    assert solver.factors is not factors


def test_factors_serve_only_systems_near_their_own():
    probabilities = uniform(np.zeros((4, 2)))
    factors = Factors(np.eye(6).reshape(3, 2, 3, 2), probabilities, 100)
    assert factors.are_near(probabilities, 101)
    assert not factors.are_near(np.eye(3)[[0, 1, 2, 0]], 100)  # another policy
    assert not factors.are_near(probabilities, 200)  # twice the data


def test_a_full_dictionary_follows_the_data_to_new_places():
    """Chosen anew when the states have grown by half, so that no place is left without pivots."""
    rng = np.random.default_rng(0)
    model = WorldModel(Gaussian(0.05), 1, method="nystrom", max_rank=20)
    for place in range(7):
        states = place + 0.1 * rng.random((100, 1))
        model.partial_fit(states, np.zeros(100, int), np.ones(100), states, np.ones(100, bool))
    assert model.rank_ == 20
    rewards = model.reward(np.arange(7)[:, None] + 0.05)
    np.testing.assert_allclose(rewards, 1.0, atol=0.1)


def many_actions(n, n_actions=50):
    rng = np.random.default_rng(1000)
    states = rng.uniform(-1, 1, (n, 2))
    columns = (states, rng.integers(n_actions, size=n), rng.normal(size=n), 0.9 * states)
    return *columns, np.zeros(n, bool)


def uniform_of_fifty(states):
    return np.full((len(states), 50), 0.02)


def test_fifty_actions_take_little_memory():
    """A Nystrom system of rank 1,000 would take 10 GB, the exact one of the pairs takes 14 MB."""
    columns = many_actions(1300)
    tracemalloc.start()
    model = WorldModel(Exponential(0.5), 50).fit(*columns)
    model.action_values(uniform_of_fifty, 0.9)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.method_ == "exact"
    assert peak < 2e8


def test_the_rank_shrinks_with_the_number_of_actions_and_says_so(monkeypatch):
    monkeypatch.setattr(world_model, "MOST_PAIRS", 200)
    monkeypatch.setattr(world_model, "MOST_UNKNOWNS", 1000)
    with pytest.warns(UserWarning, match="a rank of 20, less than max_rank .100"):
        model = WorldModel(Exponential(0.5), 50, max_rank=100).fit(*many_actions(300))
    assert (model.method_, model.rank_) == ("nystrom", 20)
    values = model.action_values(uniform_of_fifty, 0.9)
    assert np.isfinite(values(many_actions(10)[0])).all()
    model = WorldModel(Exponential(0.5), 6, max_rank=100).fit(*many_actions(300, n_actions=6))
    assert (model.method_, model.rank_) == ("nystrom", 100)


def test_a_solve_without_tables_of_features_is_the_same(monkeypatch):
    """Beyond `LARGEST_TABLE` features are computed in parts, so that memory stays flat."""
    rng = np.random.default_rng(0)
    states, next_states = rng.normal(size=(2, 300, 2))
    data = states, rng.integers(3, size=300), rng.normal(size=300), next_states, np.zeros(300, bool)
    questions = (
        lambda model: model.action_values(lambda x: softmax(x @ np.ones((2, 3)) + [0, 1, 2]), 0.9),
        lambda model: lambda x: model.expect(lambda y: y[:, 0], x),
        lambda model: model.reward,
    )

    def answers():
        model = WorldModel(Gaussian(0.7), 3, method="nystrom").fit(*data)
        return [ask(model)(states) for ask in questions]

    expected = answers()
    monkeypatch.setattr(nystrom, "LARGEST_TABLE", 0)
    for got, wanted in zip(answers(), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-7 * np.ptp(wanted))


# -- the dictionary -------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian([0.5, 1.5]), Gaussian(3.0), Exponential(1.0)])
@pytest.mark.parametrize("tolerance", [1e-10, 1e-4, 0.1])
@pytest.mark.parametrize("chunk", [1000, 1, 40])
def test_features_miss_the_kernel_by_no_more_than_the_tolerance(kernel, tolerance, chunk):
    states = np.random.default_rng(0).normal(size=(150, 2))
    dictionary = Dictionary(kernel, (2,), tolerance, max_rank=1000)
    for start in range(0, len(states), chunk):
        dictionary.grow(states[start : start + chunk])
    features = dictionary.features(states)
    missing = kernel(states, states) - features @ features.T
    assert np.abs(missing).max() <= dictionary.tolerance * (1 + 1e-6) + 1e-14


def test_pivots_stay_above_the_rounding_error_and_lost_accuracy_is_noticed():
    line = np.linspace(0.0, 1.0, 400)[:, None]
    dictionary = Dictionary(Gaussian(1.0), (1,), 0.0, max_rank=1000)
    dictionary.grow(line)
    assert dictionary.rank < 20
    assert dictionary.is_accurate
    dictionary = Dictionary(Gaussian(1.0), (1,), 0.0, max_rank=1000)
    dictionary.tolerance = 1e-15  # below what rounding allows
    for state in [*line, np.array([1.5]), np.array([2.0]), np.array([4.0])]:
        dictionary.grow(state[None])  # pivots close to each other, then states far away
    assert not dictionary.is_accurate
