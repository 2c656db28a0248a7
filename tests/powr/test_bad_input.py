"""Bad input is refused before any environment step, by an error that names what came."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import (
    Box,
    Dict,
    Discrete,
    MultiBinary,
    MultiDiscrete,
    Sequence,
    Text,
    Tuple,
)

from powr import POWR
from powr.kernels import Dirac, Exponential, Gaussian
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
        Sequence(Discrete(2)),
    ],
    ids=str,
)
def test_observations_must_be_finite_or_a_box(space):
    with pytest.raises(ValueError, match=r"Box, Discrete.*: flatten it with .*Flatten") as caught:
        POWR(untouchable(observation_space=space))
    assert str(space) in str(caught.value)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_a_box_must_hold_a_number(shape):
    with pytest.raises(ValueError, match=r"observation space Box.* is empty: use Discrete\(1\)"):
        POWR(untouchable(Box(-1.0, 1.0, shape)))


@pytest.mark.parametrize("env", [None, 3, object, {"id": "CartPole-v1"}], ids=str)
def test_env_must_be_an_environment_or_an_id(env):
    with pytest.raises(TypeError, match=r"gymnasium\.Env or the id of one, got"):
        POWR(env)


def test_an_unknown_id_is_gymnasiums_error():
    with pytest.raises(gymnasium.error.NameNotFound):
        POWR("NoSuchEnvironment-v0")


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("gamma", 1.0, ValueError),
        ("gamma", -0.1, ValueError),
        ("gamma", 1.5, ValueError),
        ("gamma", NAN, ValueError),
        ("gamma", "0.9", TypeError),
        ("regularization", 0.0, ValueError),
        ("regularization", -1e-6, ValueError),
        ("regularization", INF, ValueError),
        ("max_rank", None, TypeError),
        ("summed", None, TypeError),
        ("plan_within_episodes", 1, TypeError),
        ("step_size", 0, ValueError),
        ("step_size", -1.0, ValueError),
        ("step_size", NAN, ValueError),
        ("step_size", True, TypeError),
        ("mirror_steps", 0, ValueError),
        ("mirror_steps", 2.0, TypeError),
        ("mirror_steps", True, TypeError),
        ("episodes_per_epoch", 0, ValueError),
        ("episodes_per_epoch", 1.5, TypeError),
        ("epoch_growth", -0.1, ValueError),
        ("epoch_growth", NAN, ValueError),
        ("tolerance", -1e-3, ValueError),
        ("max_rank", 0, ValueError),
        ("max_rank", 1e3, TypeError),
        ("prior", INF, ValueError),
        ("prior", "optimistic", TypeError),
        ("seed", -1, ValueError),
        ("seed", 0.5, TypeError),
        ("seed", None, TypeError),
        ("seed", True, TypeError),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name, value, error):
    with pytest.raises(error, match=rf"{name} must .*got {re.escape(repr(value))}"):
        POWR(untouchable(), **{name: value})


@pytest.mark.parametrize("gamma", [0, 0.0, 0.999, np.float32(0.5)])
def test_gamma_may_be_any_number_from_zero_to_below_one(gamma):
    assert POWR(untouchable(), gamma=gamma).gamma == gamma


def test_settings_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        POWR(untouchable(), Dirac())


# -- kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian, Exponential])
@pytest.mark.parametrize("bandwidth", [0.0, -1.0, NAN, INF, [0.1, 0.0], [0.1, -1.0], [], [[1.0]]])
def test_bandwidths_must_be_positive_numbers(kernel, bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be"):
        kernel(bandwidth)


@pytest.mark.parametrize("kernel", [Gaussian([0.1] * 3), Exponential([0.1])], ids=repr)
def test_bandwidths_must_be_one_or_one_a_dimension(kernel):
    expected = rf"{kernel.bandwidth.size} bandwidths, but states have 2 dimensions"
    with pytest.raises(ValueError, match=expected):
        POWR(untouchable(), kernel=kernel)


# -- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "error"), [(0, ValueError), (-5, ValueError), (1e3, TypeError), ("10", TypeError)]
)
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


@pytest.mark.parametrize("observation", [0.0, 0.5, [0.5, 1.5], [[1, 2]]])
def test_discrete_observations_must_be_integers(observation):
    with pytest.raises(ValueError, match=r"integers of Discrete\(5\), .*, got .* of shape"):
        POWR(untouchable(Discrete(5))).predict(observation)


@pytest.mark.parametrize("ask", [POWR.predict, POWR.action_probabilities])
@pytest.mark.parametrize(("observation", "named"), [(1, 1), (-4, -4), ([-2, 0, 2], 2)])
def test_discrete_observations_must_lie_within_their_space(ask, observation, named):
    agent = POWR(untouchable(Discrete(3, start=-2)))
    with pytest.raises(ValueError, match=rf"within Discrete\(3, start=-2\), got {named}"):
        ask(agent, observation)
    assert len(ask(agent, [-2, -1, 0])[0]) == 3


def test_no_discrete_observations_have_no_actions():
    actions, _ = POWR(untouchable(Discrete(3))).predict([])
    assert actions.shape == (0,)


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


# -- transitions ----------------------------------------------------------------------------------


def transitions(**replaced):
    good = {
        "states": np.zeros((4, 2)),
        "actions": np.array([0, 1, 2, 0]),
        "rewards": np.ones(4),
        "next_states": np.ones((4, 2)),
        "terminated": np.zeros(4, bool),
    }
    return {**good, **replaced}


BAD_TRANSITIONS = {
    "lengths differ": ({"rewards": np.ones(3)}, ValueError, "one length, got .*rewards 3"),
    "widths differ": ({"next_states": np.ones((4, 3))}, ValueError, r"\(n, 2\), got \(4, 3\)"),
    "three dimensions": ({"states": np.zeros((4, 2, 2))}, ValueError, r"got \(4, 2, 2\)"),
    "NaN state": ({"states": np.full((4, 2), NAN)}, ValueError, "states must be finite, got nan"),
    "infinite next state": (
        {"next_states": np.full((4, 2), INF)},
        ValueError,
        "next_states must be finite, got inf",
    ),
    "NaN reward": (
        {"rewards": np.array([0, 0, NAN, 0])},
        ValueError,
        "rewards must be finite, got nan at row 2",
    ),
    "action too large": (
        {"actions": np.array([0, 3, 0, 0])},
        ValueError,
        "between 0 and 2, got 3 at row 1",
    ),
    "negative action": ({"actions": np.array([0, 0, 0, -1])}, ValueError, "got -1 at row 3"),
    "fractional actions": ({"actions": np.full(4, 0.5)}, TypeError, "actions must be integers"),
    "rewards of text": ({"rewards": np.array(["1"] * 4)}, TypeError, "rewards must be numbers"),
    "half terminated": ({"terminated": np.full(4, 0.5)}, ValueError, "terminated must be"),
    "none at all": (
        {name: column[:0] for name, column in transitions().items()},
        ValueError,
        "at least one transition",
    ),
}


@pytest.mark.parametrize(
    ("replaced", "error", "message"), BAD_TRANSITIONS.values(), ids=BAD_TRANSITIONS
)
def test_transitions_must_fit_together(replaced, error, message):
    with pytest.raises(error, match=message):
        WorldModel(Gaussian(1.0), 3).fit(**transitions(**replaced))


def test_a_refused_addition_leaves_the_model_as_it_was():
    model = WorldModel(Gaussian(1.0), 3).fit(**transitions())
    before = model.reward(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"\(n, 2\), got \(4, 3\)"):
        model.partial_fit(**transitions(states=np.zeros((4, 3)), next_states=np.zeros((4, 3))))
    assert model.n_transitions_ == 4
    np.testing.assert_array_equal(model.reward(np.zeros((1, 2))), before)
