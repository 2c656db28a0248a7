"""The local solver: it agrees with the exact one, and says what it cannot do."""

import gymnasium
import numpy as np
import pytest

from powr import POWR
from powr.kernels import Dirac, Exponential
from powr.mirror_descent import softmax
from powr.solvers import local
from powr.world_model import WorldModel

KERNEL = Exponential([1.2, 0.12])
GAMMA = 0.99


def drive(n_transitions, seed):
    """MountainCar, pushed along its velocity seven times in ten: some episodes reach the goal."""
    env, rng = gymnasium.make("MountainCar-v0"), np.random.default_rng(seed)
    rows, ended = [], True
    while len(rows) < n_transitions:
        if ended:
            state, _ = env.reset(seed=seed + len(rows))
        action = int(rng.integers(3)) if rng.random() < 0.3 else 2 * int(state[1] > 0)
        next_state, reward, terminated, truncated, _ = env.step(action)
        rows.append((state, action, float(reward), next_state, terminated))
        state, ended = next_state, terminated or truncated
    return [np.array(column) for column in zip(*rows, strict=True)]


def few(n=150):
    """Few enough pairs per action that all are landmarks; some repeat with other outcomes."""
    rng = np.random.default_rng(1)
    states = rng.choice(rng.normal(size=(40, 2)) * [1.2, 0.12], n)
    return (
        states,
        rng.integers(3, size=n),
        rng.normal(size=n),
        states + rng.normal(size=(n, 2)) * [0.1, 0.01],
        rng.random(n) < 0.1,
    )


def uniform(states):
    return np.full((len(states), 3), 1 / 3)


def improved(model, steps=3):
    """Action values after steps towards the greedy policy, which magnify errors."""
    values = model.action_values(uniform, GAMMA)
    for _ in range(steps):
        values = model.action_values(lambda states, q=values: softmax(10 * q(states)), GAMMA)
    return values


@pytest.mark.parametrize("of", [lambda model: model.action_values(uniform, GAMMA), improved])
def test_it_agrees_with_the_exact_solve_on_2000_pairs(of):
    data = drive(2000, seed=1000)
    exact, fast = (
        of(WorldModel(KERNEL, 3, method=method).fit(*data))(data[0])
        for method in ("exact", "local")
    )
    assert np.abs(fast - exact).max() <= 0.02 * np.abs(exact).max()
    assert (fast.argmax(axis=1) == exact.argmax(axis=1)).mean() >= 0.98


def test_it_is_the_exact_solve_where_all_pairs_are_landmarks():
    data = few()
    exact, fast = (WorldModel(KERNEL, 3, method=m).fit(*data) for m in ("exact", "local"))
    np.testing.assert_allclose(
        fast.action_values(uniform, 0.9)(data[3]),
        exact.action_values(uniform, 0.9)(data[3]),
        atol=1e-4,
    )
    np.testing.assert_allclose(fast.reward(data[3]), exact.reward(data[3]), atol=1e-6)


def test_near_duplicates_are_merged_to_their_mean():
    states = np.array([[0.0, 0.0], [1e-5, 0.0], [0.5, 0.05]])
    model = WorldModel(KERNEL, 1, method="local", regularization=1e-9)
    model.fit(states, [0, 0, 0], [1.0, 3.0, 7.0], states, [True] * 3)
    assert model.rank_ == 2
    np.testing.assert_allclose(model.reward(states), [[2.0], [2.0], [7.0]], atol=1e-3)


def test_what_the_iteration_leaves_open_is_solved_directly(monkeypatch):
    data = few()
    expected = WorldModel(KERNEL, 3, method="local").fit(*data).action_values(uniform, GAMMA)
    monkeypatch.setattr(local, "_MOST_STEPS", 1)
    found = WorldModel(KERNEL, 3, method="local").fit(*data).action_values(uniform, GAMMA)
    np.testing.assert_allclose(found(data[0]), expected(data[0]), atol=1e-3)


def test_a_kernel_that_knows_no_distances_is_refused():
    with pytest.raises(ValueError, match="needs a kernel that is a function of distances"):
        WorldModel(Dirac(), 2, method="local").fit([0, 1], [0, 1], [0, 0], [1, 0], [False, False])
    with pytest.raises(ValueError, match="not Dirac"):
        POWR("FrozenLake-v1", summed=True, method="local")
