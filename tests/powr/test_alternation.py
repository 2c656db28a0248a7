"""Whole trainings of POWR equal the paper's alternation as printed, after every epoch."""

from functools import partial

import gymnasium
import numpy as np
import pytest

from powr import POWR
from powr.kernels import Gaussian
from tests.reference.alternation import alternation, dirac, exponential, gaussian

# The goal of the lake is reached in the third episode. With Gaussian kernels, ten steps and the
# sum over epochs, seeds whose action values overshoot by several times their range (1000, 1002 to
# 1004) cannot be compared: there a relative change of 1e-15 in the rewards moves the literal
# probabilities by 0.02 to 1.
SEED = 1001


# A max_rank of 1,200 keeps the sixth epoch of MountainCar-v0 from Nystrom.
GAUSSIAN = {"kernel": Gaussian([0.1, 0.01]), "max_rank": 1200}
lake = partial(gymnasium.make, "FrozenLake-v1", is_slippery=False)
car = partial(gymnasium.make, "MountainCar-v0")
TASKS = {
    "FrozenLake-v1": (lake, dirac, {}, 20),
    "Taxi-v3": (partial(gymnasium.make, "Taxi-v3"), dirac, {}, 4),
    "MountainCar-v0, Gaussian": (car, gaussian([0.1, 0.01]), GAUSSIAN, 6),
    "MountainCar-v0, exponential": (car, exponential([0.6, 0.14 / 3]), {"max_rank": 1200}, 6),
    "MountainCar-v0, slices": (
        car,
        exponential([0.6, 0.14 / 3]),
        {"max_rank": 1200, "call_length": 150},
        6,
    ),
    "MountainCar-v0, no end": (
        partial(car, max_episode_steps=-1),
        exponential([0.6, 0.14 / 3]),
        {"max_rank": 1200, "longest_wait": 180},
        6,
    ),
}


@pytest.mark.filterwarnings("ignore:action values lie beyond")
@pytest.mark.parametrize("mirror_steps", [1, 10])
@pytest.mark.parametrize("restart", [False, True], ids=["sum", "restart"])
@pytest.mark.parametrize(("make", "kernel", "settings", "n_epochs"), TASKS.values(), ids=TASKS)
def test_training_is_the_alternation_as_printed(
    make, kernel, settings, n_epochs, restart, mirror_steps, monkeypatch
):
    """The same transitions, and probabilities to 1e-6 at every state of them."""
    settings = dict(settings)
    lengths = {name: settings.pop(name, None) for name in ("call_length", "longest_wait")}
    monkeypatch.setattr("powr.agent.LONGEST_WAIT", lengths["longest_wait"] or 1000)
    agent = POWR(make(), mirror_steps=mirror_steps, restart=restart, seed=SEED, **settings)
    literal = alternation(
        make(),
        kernel,
        gamma=0.99,
        step_size=0.1,
        mirror_steps=mirror_steps,
        regularization=1e-6,
        restart=restart,
        seed=SEED,
        **lengths,
    )
    spreads = []

    def compare(agent):
        if agent.n_plans_ == len(spreads):
            return True
        epoch = next(literal)
        for column, expected in zip(agent.data.columns(), epoch[:5], strict=True):
            np.testing.assert_array_equal(column, np.array(expected))
        states, _, _, next_states, _ = agent.data.columns()
        probabilities = agent.action_probabilities(np.concatenate([states, next_states]))
        np.testing.assert_allclose(probabilities, epoch.probabilities, rtol=0, atol=1e-6)
        spreads.append(np.ptp(probabilities))
        return len(spreads) < n_epochs

    while len(spreads) < n_epochs:
        agent.learn(lengths["call_length"] or 10_000, callback=compare)
        compare(agent)  # the epoch with which the call ends
    assert len(spreads) == agent.n_plans_ == n_epochs
    assert spreads[-1] > 0.02  # the policy is no longer uniform
