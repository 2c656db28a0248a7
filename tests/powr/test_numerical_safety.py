"""Awkward data and settings: finite values, no warning, and the right ones from every solver."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from powr import POWR
from powr.kernels import Dirac, Exponential, Gaussian
from powr.world_model import WorldModel
from tests.powr.environments import PLACES, Paid
from tests.reference import extended_precision

pytestmark = pytest.mark.filterwarnings("error")

KERNELS = [Gaussian(0.5), Exponential(0.5), Dirac()]
METHODS = ["exact", "nystrom"]
REGULARIZATIONS = [1e2, 1e-2, 1e-6, 1e-9, 1e-12]
GAMMAS = [0.0, 0.99, 0.9999]


def transitions(n=40, n_actions=3, rewards=None):
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (n, 2))
    return {
        "states": states,
        "actions": rng.integers(n_actions, size=n),
        "rewards": rng.normal(size=n) if rewards is None else rewards(rng.normal(size=n)),
        "next_states": np.clip(states + 0.1 * rng.normal(size=(n, 2)), -1, 1),
        "terminated": rng.random(n) < 0.1,
    }


def with_twins(distance):
    """Half of the states are the other half, moved by so much."""
    data = transitions()
    half = len(data["states"]) // 2
    shift = distance * np.random.default_rng(1).normal(size=(half, 2))
    data["states"][half:] = data["states"][:half] + shift
    # A twin with a reward of its own would make any estimate a matter of the last digits.
    data["actions"][half:], data["rewards"][half:] = data["actions"][:half], data["rewards"][:half]
    return data


DATA = {
    "ordinary": transitions(),
    "duplicate states": with_twins(0.0),
    "states 1e-12 apart": with_twins(1e-12),
    "states 1e-8 apart": with_twins(1e-8),
    "constant rewards": transitions(rewards=np.ones_like),
    "no rewards": transitions(rewards=np.zeros_like),
    "rewards of 1e9": transitions(rewards=lambda r: 1e9 * r),
    "rewards of 1e-9": transitions(rewards=lambda r: 1e-9 * r),
    "one transition": transitions(n=1),
    "one action": transitions(n_actions=1),
    "one state": {**transitions(), "states": np.zeros((40, 2)), "next_states": np.zeros((40, 2))},
    "all terminated": {**transitions(), "terminated": np.ones(40, bool)},
}


def uniform(states):
    return np.full((len(states), 3), 1 / 3)


def action_values(data, kernel, method, regularization, gamma):
    model = WorldModel(kernel, 3, regularization=regularization, method=method, tolerance=1e-10)
    return model.fit(**data).action_values(uniform, gamma)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
@pytest.mark.skipif(not extended_precision.HAS_MORE_DIGITS, reason="no 80-bit numbers here")
def test_values_are_right(data, kernel):
    for regularization, gamma in itertools.product(REGULARIZATIONS, GAMMAS):
        if regularization < 1e-9:
            # At the edge of double precision SciPy may say so.
            warnings.simplefilter("ignore", LinAlgWarning)
        settings = {"kernel": kernel, "regularization": regularization, "gamma": gamma}
        expected = extended_precision.action_values(**data, **settings, n_actions=3)
        largest = float(np.abs(expected).max())
        for method in METHODS:
            q = action_values(data, method=method, **settings)
            # The Nystrom kernel is off by its tolerance, 1e-10, which a ridge n lambda divides.
            coarse = method == "nystrom" and regularization < 1e-9
            error = np.abs(q(data["states"]) - expected).max()
            assert error <= (0.05 if coarse else 1e-4) * largest, (method, settings)
            assert (np.abs(q(np.full((1, 2), 1e6))) <= 1e-9 * largest).all()  # far from the data


@pytest.mark.filterwarnings("ignore:action values lie beyond")
@pytest.mark.parametrize("reward", [1e-9, -1e9, lambda reward: 1e100 * (reward > 0)])
def test_an_agent_stays_finite_by_nystrom(reward):
    """The contract of agents says so for the exact solves."""
    settings = {"gamma": 0.9999, "step_size": 1e100, "mirror_steps": 3, "max_rank": 20}
    agent = POWR(Paid(reward, continuous=True), method="nystrom", **settings).learn(60)
    probabilities = agent.action_probabilities(np.vstack([PLACES[True], [1e6, -1e6]]))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
