"""The solve on a subset of the pairs: Algorithm 1 on the data it chooses."""

import numpy as np
import pytest

from powr.kernels import Exponential
from powr.mirror_descent import softmax
from powr.solvers.subset import share_out
from powr.world_model import WorldModel

KERNEL = Exponential([0.5, 1.5])
N = 120


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(N, 2))
    return (
        states,
        rng.choice(3, N, p=[0.6, 0.3, 0.1]),
        rng.normal(size=N),
        rng.normal(size=(N, 2)),
        rng.random(N) < 0.2,
    )


def policy(states):
    return softmax(np.asarray(states) @ np.array([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]]))


def subset(data, max_rank):
    return WorldModel(KERNEL, 3, method="subset", max_rank=max_rank).fit(*data)


def test_it_is_the_exact_solve_on_the_chosen_transitions(data):
    model = subset(data, 40)
    chosen = model._ready_solver()._pairs  # no pair repeats here, so pairs are transitions
    alone = WorldModel(KERNEL, 3, method="exact").fit(*(column[chosen] for column in data))
    np.testing.assert_allclose(
        model.action_values(policy, 0.9)(data[3]),
        alone.action_values(policy, 0.9)(data[3]),
        rtol=1e-9,
    )
    np.testing.assert_allclose(model.reward(data[0]), alone.reward(data[0]), rtol=1e-9)


@pytest.mark.parametrize("max_rank", [N, 2 * N])
def test_it_is_the_exact_solve_where_all_pairs_fit(data, max_rank):
    exact = WorldModel(KERNEL, 3, method="exact").fit(*data)
    np.testing.assert_allclose(
        subset(data, max_rank).action_values(policy, 0.9)(data[0]),
        exact.action_values(policy, 0.9)(data[0]),
        rtol=1e-9,
    )


def test_half_are_the_newest_and_no_action_is_left_out_of_the_rest(data):
    model = subset(data, 40)
    chosen = model._ready_solver()._pairs
    newest, older = chosen[chosen >= N - 20], chosen[chosen < N - 20]
    assert 35 <= model.rank_ <= 40
    np.testing.assert_array_equal(newest, np.arange(N - 20, N))
    assert np.bincount(data[1][older], minlength=3).min() >= 2


@pytest.mark.parametrize(
    ("room", "sizes", "expected"),
    [
        (10, [3, 4], [3, 4]),
        (60, [1000, 5, 1000], [27, 5, 27]),
        (60, [900, 100, 0], [46, 13, 0]),
        (3, [50, 50], [1, 1]),
        (0, [50, 50], [0, 0]),
    ],
)
def test_places_are_shared_half_alike_and_half_in_proportion(room, sizes, expected):
    shares = share_out(room, np.array(sizes))
    np.testing.assert_array_equal(shares, expected)
    assert shares.sum() <= room
    assert (shares <= sizes).all()


def test_the_older_pairs_chosen_lie_further_apart_than_the_older_pairs_do(data):
    chosen = subset(data, 40)._ready_solver()._pairs
    actions = data[1]

    def closest(pairs):
        pairs = pairs[actions[pairs] == 0]
        gram = KERNEL(data[0][pairs], data[0][pairs]) - np.eye(len(pairs))
        return gram.max()

    assert closest(chosen[chosen < N - 20]) < 0.8 * closest(np.arange(N - 20))


def test_more_pairs_come_closer_to_all_of_them(data):
    exact = WorldModel(KERNEL, 3, method="exact").fit(*data).action_values(policy, 0.9)(data[0])
    errors = [
        np.median(np.abs(subset(data, size).action_values(policy, 0.9)(data[0]) - exact))
        for size in (30, 60, 110)
    ]
    assert errors == sorted(errors, reverse=True)


def test_added_data_are_chosen_from_too(data):
    model = WorldModel(KERNEL, 3, method="subset", max_rank=40)
    for start in range(0, N, 40):
        model.partial_fit(*(column[start : start + 40] for column in data))
    np.testing.assert_array_equal(
        model.action_values(policy, 0.9)(data[0]),
        subset(data, 40).action_values(policy, 0.9)(data[0]),
    )


class Recorded(Exponential):
    """Remembers the size of the largest Gram matrix it was asked for."""

    largest = 0

    def __call__(self, x, y):
        self.largest = max(self.largest, len(x) * len(y))
        return super().__call__(x, y)


def test_a_gram_matrix_too_large_to_hold_is_made_in_parts(data, monkeypatch):
    whole, parts = Recorded([0.5, 1.5]), Recorded([0.5, 1.5])
    found = []
    for kernel, limit in ((whole, 10**6), (parts, 45 * 40)):
        monkeypatch.setattr("powr.kernels.LARGEST_GRAM", limit)
        model = WorldModel(kernel, 3, method="subset", max_rank=40).fit(*data)
        weights = model.solve(policy(model.states_), 0.9)
        q = model.action_values(policy, 0.9)
        found.append((model.at_states(weights), q(model.states_)))
    assert whole.largest == 2 * N * model.rank_
    assert parts.largest <= 45 * 40
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)
