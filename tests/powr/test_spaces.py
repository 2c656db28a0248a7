"""Observations as states: every accepted space, one observation and a batch alike."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from gymnasium.vector.utils import concatenate, create_empty_array

from powr import POWR
from powr.environment import observations_of
from tests.powr.environments import Untouchable

FINITE = {
    "Discrete": (Discrete(6, start=-2), 6),
    "MultiDiscrete": (MultiDiscrete([[2, 3], [1, 2]], start=[[-1, 5], [0, 0]]), 12),
    "MultiBinary": (MultiBinary([2, 2]), 16),
    "Tuple": (Tuple([Discrete(3), MultiBinary(2)]), 12),
    "Dict": (Dict({"b": Discrete(3), "a": MultiDiscrete([2, 2])}), 12),
    "nested": (Dict({"x": Tuple([Discrete(2), Dict({"y": Discrete(3, start=1)})])}), 6),
}
MANY = MultiDiscrete([1000] * 30)  # more combinations than there are integers
every_finite = pytest.mark.parametrize(("space", "size"), FINITE.values(), ids=FINITE)


def batch_of(space, samples):
    empty = create_empty_array(space, n=len(samples))
    return concatenate(space, samples, empty)


@every_finite
def test_each_observation_of_a_finite_space_has_a_state_of_its_own(space, size):
    space.seed(0)
    observations = observations_of(space)
    assert observations.shape == ()
    states = {}
    for _ in range(40 * size):
        sample = space.sample()
        states.setdefault(repr(sample), observations.state(sample))
        assert states[repr(sample)] == observations.state(sample)
    assert len(states) == len(set(states.values())) == size
    if not isinstance(space, Discrete):
        assert set(states.values()) == set(range(size))


BATCHES = {name: space for name, (space, _) in FINITE.items()} | {
    "hashed": MANY,
    "vector": Box(-1, 1, (3,)),
    "matrix": Box(0, 9, (2, 2)),
    "Blackjack": Tuple([Discrete(32), Discrete(11), Discrete(2)]),
    "as many numbers as parts": Tuple([MultiDiscrete([4, 4]), MultiBinary(2)]),
    "tuples of tuples": Tuple([Tuple([Discrete(3), Discrete(4)]), Tuple([Discrete(5)] * 2)]),
}


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("space", BATCHES.values(), ids=BATCHES)
def test_a_batch_of_any_length_has_the_states_of_its_observations(space, n):
    space.seed(n)
    observations = observations_of(space)
    samples = [space.sample() for _ in range(n)]
    expected = [observations.state(sample) for sample in samples]
    for batch in (samples, batch_of(space, samples)):
        states, single = observations.states(batch)
        assert not single
        np.testing.assert_array_equal(states, expected)
    for sample, state in zip(samples, expected, strict=True):
        one, single = observations.states(sample)
        assert single
        np.testing.assert_array_equal(one, [state])


def test_more_combinations_than_integers_are_hashed_alike_in_every_process():
    space = MANY
    space.seed(0)
    samples = [space.sample() for _ in range(500)]
    states = [observations_of(space).state(sample) for sample in samples]
    assert len(set(states)) == 500
    assert observations_of(space).state(np.zeros(30, int)) == 4761921975702974394
    assert all(0 <= state < 2**63 for state in states)


@pytest.mark.parametrize(
    ("space", "observation", "message"),
    [
        (MultiDiscrete([2, 3]), [0, 3], r"must be one of MultiDiscrete.*, or a batch, got 0"),
        (Dict({"a": Discrete(2)}), {"a": 2}, r"observation must be one of Dict.*got {'a': 2}"),
        (BATCHES["Blackjack"], [(1, 2, 0), (1, 2)], r"must be one of Tuple.*got \(1, 2\)"),
        (Box(0, 1, (2, 3)), np.zeros((4, 3, 2)), r"\(2, 3\) or \(n, 2, 3\), got \(4, 3, 2\)"),
    ],
)
def test_what_lies_outside_a_space_is_refused(space, observation, message):
    with pytest.raises(ValueError, match=message):
        observations_of(space).states(observation)


def test_the_remedy_for_continuous_actions_works():
    names = {"gymnasium": gymnasium, "np": np, "itertools": itertools, "Discrete": Discrete}

    def remedy(env):
        with pytest.raises(ValueError, match="TransformAction") as caught:
            POWR(env)
        levels, _, wrapped = str(caught.value).partition("levels = ")[2].partition(" by ")
        return eval(levels, names | {"env": env}), wrapped  # noqa: S307

    env = gymnasium.make("Pendulum-v1")
    levels, wrapped = remedy(env)
    agent = POWR(eval(wrapped, names | {"env": env, "levels": levels}))  # noqa: S307
    assert agent.learn(220).n_actions == 3
    plane = Untouchable(Discrete(2), Box(np.array([-1.0, 0.0]), np.array([1.0, 5.0])))
    expected = [[x, y] for x in (-1, 0, 1) for y in (0, 2.5, 5)]
    np.testing.assert_allclose(remedy(plane)[0], expected)
