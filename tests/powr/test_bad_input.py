"""Bad input is refused before any environment step, by an error that names what came."""

import inspect
import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple

from powr import POWR, OptimisticPOWR
from powr.kernels import Dirac, Gaussian
from powr.world_model import WorldModel
from tests.powr.environments import Untouchable

NAN, INF = float("nan"), float("inf")


def untouchable(observation_space=None, action_space=None):
    return Untouchable(observation_space or Box(-1.0, 1.0, (2,)), action_space or Discrete(3))


# -- environments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space", [Box(-1.0, 1.0, (2,)), MultiDiscrete([2, 2]), MultiBinary(3)], ids=str
)
def test_actions_must_be_discrete(space):
    with pytest.raises(ValueError, match="action space must be Discrete") as caught:
        POWR(untouchable(action_space=space))
    assert str(space) in str(caught.value)


@pytest.mark.parametrize(
    "space",
    [
        Dict({"x": Discrete(2), "y": Box(-1.0, 1.0, (2,))}),
        Tuple([Discrete(2), Tuple([Box(-1.0, 1.0)])]),
        Text(5),
    ],
    ids=str,
)
def test_observations_must_be_finite_or_a_box(space):
    with pytest.raises(ValueError, match=r"Box, Discrete.*: flatten it with .*Flatten") as caught:
        POWR(untouchable(observation_space=space))
    assert str(space) in str(caught.value)


def test_a_box_must_hold_a_number_and_an_environment_be_one():
    with pytest.raises(ValueError, match=r"observation space Box.* is empty: use Discrete\(1\)"):
        POWR(untouchable(Box(-1.0, 1.0, (3, 0))))
    with pytest.raises(TypeError, match=r"gymnasium\.Env or the id of one, got"):
        POWR({"id": "CartPole-v1"})


# -- settings -------------------------------------------------------------------------------------


COMMON = [
    ("gamma", 1.0, ValueError),
    ("gamma", -0.1, ValueError),
    ("gamma", NAN, ValueError),
    ("gamma", "0.9", TypeError),
    ("step_size", 0, ValueError),
    ("step_size", INF, ValueError),
    ("step_size", True, TypeError),
    ("mirror_steps", 0, ValueError),
    ("mirror_steps", 2.5, TypeError),
    ("mirror_steps", True, TypeError),
    ("regularization", 0.0, ValueError),
    ("seed", -1, ValueError),
    ("seed", 0.5, TypeError),
    ("kernel", "Gaussian", TypeError),
]
SETTINGS = {
    POWR: [
        *COMMON,
        ("episodes_per_epoch", 0, ValueError),
        ("restart", 1, TypeError),
        ("method", "subset", ValueError),
        ("max_rank", None, TypeError),
    ],
    OptimisticPOWR: [
        *COMMON,
        ("prior", INF, ValueError),
        ("prior", "optimistic", TypeError),
        ("plan_within_episodes", 1, TypeError),
        ("cautious", None, TypeError),
        ("keep_best", 0, TypeError),
        ("terminal_values", "yes", TypeError),
    ],
}


@pytest.mark.parametrize(
    ("cls", "name", "value", "error"),
    [(cls, *setting) for cls, settings in SETTINGS.items() for setting in settings],
)
def test_a_setting_out_of_range_is_named_with_its_value(cls, name, value, error):
    message = rf"{name} must .*got {re.escape(repr(value))}"
    with pytest.raises(error, match=message):
        cls(untouchable(Discrete(4)), **{name: value})
    if name != "seed":  # the same when it is changed later
        agent = cls(untouchable(Discrete(4)))
        setattr(agent, name, value)
        with pytest.raises(error, match=message):
            agent.learn(10)


def test_every_setting_is_tested():
    for cls, tested in SETTINGS.items():
        names = set(inspect.signature(cls).parameters) - {"env"}
        assert names == {name for name, *_ in tested}


def test_low_rank_is_still_understood():
    assert POWR("MountainCar-v0", method="low_rank").learn(210).model_.method_ == "nystrom"


# -- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("total", "error"), [(0, ValueError), (1.5, TypeError), ("10", TypeError)])
def test_total_timesteps_must_be_a_count(total, error):
    with pytest.raises(error, match=rf"total_timesteps must .*got {re.escape(repr(total))}"):
        POWR(untouchable()).learn(total)


@pytest.mark.parametrize(
    ("observation", "error", "message"),
    [
        ([0.1, 0.2, 0.3], ValueError, r"shape \(2,\) or \(n, 2\), got \(3,\)"),
        (np.zeros((4, 3)), ValueError, r"\(n, 2\), got \(4, 3\)"),
        (np.zeros((2, 2, 2)), ValueError, r"got \(2, 2, 2\)"),
        (0.5, ValueError, r"shape \(2,\) or \(n, 2\), got \(\)"),
        ([0.1, NAN], ValueError, "must be finite, got nan at row 0"),
        ([[0.0, 0.0], [INF, 0.0]], ValueError, "must be finite, got inf at row 1"),
        (["left", "right"], TypeError, "must be numbers"),
        (None, TypeError, "must be numbers"),
    ],
)
@pytest.mark.parametrize("ask", [POWR.predict, POWR.action_probabilities])
def test_observations_must_fit_the_space(ask, observation, error, message):
    with pytest.raises(error, match=message):
        ask(POWR(untouchable()), observation)


@pytest.mark.parametrize("ask", [POWR.predict, POWR.action_probabilities])
@pytest.mark.parametrize(("observation", "named"), [(1, 1), (-4, -4), ([-2, 0, 2], 2)])
def test_discrete_observations_must_lie_within_their_space(ask, observation, named):
    agent = POWR(untouchable(Discrete(3, start=-2)))
    with pytest.raises(ValueError, match=rf"within Discrete\(3, start=-2\), got {named}"):
        ask(agent, observation)
    assert len(ask(agent, [-2, -1, 0])[0]) == 3


# -- states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "asked", "n"),
    [
        (np.eye(3), np.eye(3)[0], 1),
        (np.arange(3.0)[:, None], np.arange(2.0), 2),
        (np.arange(3), np.array(1), 1),
    ],
    ids=["a vector", "numbers", "an integer"],
)
def test_the_remedy_for_states_that_lack_a_dimension_works(states, asked, n):
    model = WorldModel(Gaussian(1.0) if states.ndim == 2 else Dirac(), 1)
    model.fit(states, [0] * 3, [1.0] * 3, states, [False] * 3)
    with pytest.raises(ValueError, match=r"states must have shape .*, got .*, by ") as caught:
        model.reward(asked)
    remedy = str(caught.value).rpartition(", by ")[2]
    mended = eval(remedy, {"states": asked})  # noqa: S307
    assert model.reward(mended).shape == (n, 1)


@pytest.mark.parametrize("shape", [(2, 2), (2, 1), (1,), ()])
def test_a_function_of_states_must_return_a_number_for_each(shape):
    model = WorldModel(Gaussian(1.0), 1).fit(np.eye(2), [0, 0], [0, 0], np.eye(2), [0, 0])
    message = rf"f must return .* shape \(2,\) .*, got {re.escape(str(shape))}"
    with pytest.raises(ValueError, match=message):
        model.expect(lambda states: np.ones(shape), np.eye(2))
