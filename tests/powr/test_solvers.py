"""One contract that every solver of Prop. 3 keeps, and what is particular to the exact ones."""

import numpy as np
import pytest

from benchmarks.literal import kernels as literal
from powr import kernels
from powr.data import Counts
from powr.kernels import Dirac, Exponential, Gaussian
from powr.solvers import exact, make_solver
from powr.solvers.empirical_mdp import EmpiricalMDP
from powr.solvers.exact import ExactModel
from powr.solvers.nystrom import NystromModel

N_ACTIONS, GAMMA, REGULARIZATION = 3, 0.95, 1e-3
FEW, MANY = 12, 100  # distinct states: an empirical MDP is solved densely or sparsely


def transitions(n_states, n=400, seed=0, in_plane=False):
    """Steps between random places, a tenth of them terminated."""
    rng = np.random.default_rng(seed)
    states, next_states = rng.integers(n_states, size=(2, n))
    if in_plane:
        places = np.random.default_rng(7).normal(size=(n_states, 2))
        states, next_states = places[states], places[next_states]
    actions, rewards = rng.integers(N_ACTIONS, size=n), rng.standard_normal(n)
    return states, actions, rewards, next_states, rng.random(n) < 0.1


def build(method, kernel, columns, portions=1):
    """A solver that has seen the transitions, in so many portions with an update after each."""
    data = Counts(columns[0].shape[1:], N_ACTIONS)
    solver = None
    for part in zip(*(np.array_split(column, portions) for column in columns), strict=True):
        data.add(*part)
        solver = solver or make_solver(method, kernel, data, tolerance=1e-12, max_rank=1000)
        solver.update()
    return solver


def some_policy(n_states, seed=3):
    return np.random.default_rng(seed).dirichlet(np.ones(N_ACTIONS), size=n_states)


def literal_values(columns, gram, policy, gamma):
    """q at the distinct states from (K_lambda - gamma M) c = y, one unknown per transition."""
    x, a, y, x_next, d, distinct = *columns[:5], columns[5]
    E, n = np.eye(N_ACTIONS)[a], len(y)
    K = gram(x, x) * (E @ E.T) + n * REGULARIZATION * np.eye(n)
    number = [
        np.flatnonzero((distinct == each).reshape(len(distinct), -1).all(1))[0] for each in x_next
    ]
    M = (1 - d)[:, None] * gram(x_next, x) * (policy[number] @ E.T)
    c = np.linalg.solve(K - gamma * M, y)
    return gram(distinct, x) @ (c[:, None] * E)


SOLVERS = {
    "empirical MDP, dense": ("exact", Dirac(), literal.dirac(), FEW, False, EmpiricalMDP),
    "empirical MDP, sparse": ("exact", Dirac(), literal.dirac(), MANY, False, EmpiricalMDP),
    "exact, exponential": (
        "exact",
        Exponential(0.5),
        literal.exponential(0.5),
        FEW,
        True,
        ExactModel,
    ),
    "exact, Gaussian": ("exact", Gaussian(0.5), literal.gaussian(0.5), FEW, True, ExactModel),
    "Nystrom": ("nystrom", Exponential(0.5), literal.exponential(0.5), MANY, True, NystromModel),
    "Nystrom, Dirac": ("nystrom", Dirac(), literal.dirac(), FEW, False, NystromModel),
}


@pytest.fixture(params=SOLVERS.values(), ids=SOLVERS)
def case(request):
    method, kernel, pair_kernel, n_states, in_plane, kind = request.param
    columns = transitions(n_states, in_plane=in_plane)
    solver = build(method, kernel, columns)
    assert type(solver) is kind
    return solver, method, kernel, pair_kernel, columns


def close(found, expected, rtol=1e-8):
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * np.abs(expected).max())


class TestEverySolver:
    def test_solves_proposition_3(self, case):
        solver, _, _, pair_kernel, columns = case
        states = solver.data.index.states
        policy = some_policy(len(states))
        weights = solver.solve(solver.data.pair_reward, policy, GAMMA, REGULARIZATION)
        expected = literal_values(
            (*columns, states), lambda x, y: literal.gram(pair_kernel, x, y), policy, GAMMA
        )
        close(solver.at_states(weights), expected)

    def test_data_in_portions_are_all_data(self, case):
        solver, method, kernel, _, columns = case
        grown = build(method, kernel, columns, portions=9)
        policy = some_policy(len(solver.data.index))
        found, expected = (
            each.at_states(each.solve(each.data.pair_reward, policy, GAMMA, REGULARIZATION))
            for each in (grown, solver)
        )
        close(found, expected)


def test_a_gram_matrix_too_large_to_hold_is_made_in_parts(monkeypatch):
    columns = transitions(FEW, in_plane=True)
    policy = some_policy(FEW)

    def values():
        solver = build("exact", Exponential(0.5), columns)
        weights = solver.solve(solver.data.pair_reward, policy, GAMMA, REGULARIZATION)
        return solver.at_states(weights)

    whole = values()
    monkeypatch.setattr(kernels, "LARGEST_GRAM", 40)
    np.testing.assert_allclose(values(), whole, rtol=1e-12)


def test_an_exact_solve_that_would_not_fit_is_refused_with_the_memory_it_needs(monkeypatch):
    monkeypatch.setattr(exact, "LARGEST_SYSTEM", 2**10)
    with pytest.raises(MemoryError, match=r'pairs would take .* GB.*: use method="auto"'):
        build("exact", Exponential(0.5), transitions(FEW, in_plane=True))
