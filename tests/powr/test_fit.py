"""Learning from logged data: the literal Algorithm 1, optimal policies, scores, and the search."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

from powr import POWR, literal
from powr.environment import SpacesAlone
from powr.kernels import Dirac, Exponential
from powr.storage import describe_space, make_space
from powr.tabular import TabularMDP
from powr.tuning import search
from powr.world_model import WorldModel
from tests.powr.environments import Corridor

PLANE = Box(-1.0, 1.0, (2,))
MOVES = 0.15 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
SETTINGS = {"gamma": 0.9, "step_size": 0.5, "mirror_steps": 4, "regularization": 1e-3}


def wandering(n, seed=1000):
    """Transitions in a plane: four directions with noise, -0.2 a step, the end near the origin."""
    rng = np.random.default_rng(seed)
    states, actions = rng.uniform(-1, 1, (n, 2)), rng.integers(4, size=n)
    next_states = np.clip(states + MOVES[actions] + 0.03 * rng.normal(size=(n, 2)), -1, 1)
    terminated = np.linalg.norm(next_states, axis=1) < 0.15
    return states, actions, np.full(n, -0.2), next_states, terminated


def covered(env):
    """Each action once in each state of a deterministic table."""
    table = env.unwrapped.P
    rows = [
        (state, action, reward, next_state, terminated)
        for state, actions in table.items()
        for action, [(_, next_state, reward, terminated)] in actions.items()
    ]
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("kernel", [Dirac(), Exponential([0.5, 0.8])], ids=repr)
def test_fit_is_algorithm_1_as_printed(kernel):
    if isinstance(kernel, Dirac):
        rng = np.random.default_rng(1000)
        states, next_states = rng.integers(5, size=(2, 40))
        columns = (states, rng.integers(3, size=40), rng.normal(size=40), next_states, states == 2)
        space, n_actions, pair_kernel = Discrete(5), 3, literal.dirac()
    else:
        columns, space, n_actions = wandering(40), PLANE, 4
        pair_kernel = literal.exponential([0.5, 0.8])
    agent = POWR(
        observation_space=space, action_space=Discrete(n_actions), kernel=kernel, **SETTINGS
    ).fit(*columns)
    printed = literal.algorithm1(
        *columns[:4],
        terminated=columns[4],
        n_actions=n_actions,
        kernel=pair_kernel,
        iterations=4,
        **{name: SETTINGS[name] for name in ("gamma", "step_size", "regularization")},
    )
    probabilities = agent.action_probabilities(columns[3])
    np.testing.assert_allclose(probabilities, printed.policy(columns[3]), rtol=0, atol=1e-9)
    assert np.ptp(probabilities) > 0.02


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v3"])
def test_data_that_cover_the_table_give_an_optimal_policy(name, tmp_path):
    env = gymnasium.make(name, is_slippery=False) if "Lake" in name else gymnasium.make(name)
    mdp, columns = TabularMDP.from_env(env), covered(env)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    agent = POWR(**spaces, step_size=10.0, mirror_steps=20).fit(*columns)
    agent.save(tmp_path / "agent.npz")
    for each in (agent, POWR.load(tmp_path / "agent.npz"), POWR.load(tmp_path / "agent.npz", env)):
        actions, _ = each.predict(np.arange(mdp.n_states), deterministic=True)
        achieved = mdp.expected_return(np.eye(mdp.n_actions)[actions])
        assert achieved == pytest.approx(mdp.optimal_return())


def test_a_box_is_learned_from_logged_data():
    """Nine of ten walks reach the origin in about as many steps as it is far."""
    agent = POWR(
        observation_space=PLANE,
        action_space=Discrete(4),
        mirror_steps=20,
        step_size=10.0,
        regularization=1e-4,
    ).fit(*wandering(600))
    states = np.random.default_rng(1002).uniform(-0.8, 0.8, (100, 2))
    for _ in range(14):
        actions, _ = agent.predict(states, deterministic=True)
        far = np.linalg.norm(states, axis=1) >= 0.15
        states = np.clip(states + far[:, None] * MOVES[actions], -1, 1)
    assert (np.linalg.norm(states, axis=1) < 0.15).mean() > 0.85


def test_learning_goes_on_in_the_environment_after_logged_data():
    logged = POWR(Corridor(), seed=1000).learn(100).data.columns()
    agent = POWR(Corridor(), seed=1).learn(30).fit(*logged)
    assert (agent.num_timesteps, agent.n_plans_, agent.episode_returns) == (100, 1, [])
    agent.learn(20)
    assert agent.model_.n_transitions_ == 120
    assert len(agent.episode_returns) == 2


def test_logged_data_that_do_not_fit_leave_the_agent_as_it_was(monkeypatch):
    agent = POWR(Corridor(), seed=1000).learn(50)
    before = agent.action_probabilities(range(10))
    columns = agent.data.columns()
    with pytest.raises(ValueError, match="actions must lie between"):
        agent.fit(columns[0], columns[1] + 7, *columns[2:])
    monkeypatch.setattr(WorldModel, "solve", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        agent.fit(*columns)
    assert agent.n_plans_ == 5
    np.testing.assert_array_equal(agent.action_probabilities(range(10)), before)


def test_an_agent_needs_an_environment_or_both_spaces():
    for given in ({}, {"action_space": Discrete(2)}, {"env": Corridor(), "action_space": PLANE}):
        with pytest.raises(TypeError, match="give env or"):
            POWR(**given)
    with pytest.raises(ValueError, match="has no environment"):
        POWR(observation_space=PLANE, action_space=Discrete(2)).learn(10)


@pytest.mark.parametrize(
    "space",
    [
        Box(np.array([-np.inf, 0.1]), np.array([np.inf, 1 / 3])),
        Discrete(5, start=-2),
        MultiDiscrete([3, 4]),
        MultiBinary(3),
        Tuple([Discrete(2), Dict({"a": Discrete(3)})]),
    ],
    ids=str,
)
def test_spaces_are_saved(space, tmp_path):
    assert make_space(describe_space(space)) == space
    POWR(observation_space=space, action_space=Discrete(3, start=1)).save(tmp_path / "agent.npz")
    loaded = POWR.load(tmp_path / "agent.npz")
    assert isinstance(loaded.env, SpacesAlone)
    assert (loaded.observation_space, loaded.action_space) == (space, Discrete(3, start=1))


# -- scores and the search ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "nystrom"])
def test_a_score_is_small_on_held_out_transitions_and_large_for_a_bandwidth_that_is_off(method):
    fitted, held_out = wandering(300), wandering(100, seed=1001)

    def score(bandwidth):
        model = WorldModel(Exponential(bandwidth), 4, regularization=1e-4, method=method)
        return model.fit(*fitted).score(*held_out)

    good, bad = score(1.0), score(0.01)
    assert 0 < good.reward < 0.01
    assert 0 < good.next_state < 0.1
    assert bad.reward > 0.5
    assert bad.next_state > 0.5


def test_a_score_of_a_table_that_is_known_is_0():
    columns = covered(gymnasium.make("FrozenLake-v1", is_slippery=False))
    score = WorldModel(Dirac(), 4, regularization=1e-9).fit(*columns).score(*columns)
    np.testing.assert_allclose(score, 0.0, atol=1e-12)


def test_the_search_puts_first_what_predicts_held_out_transitions_best():
    columns, held_out = wandering(400), wandering(200, seed=1001)
    grid = {"bandwidths": (0.1, 1.0), "regularizations": (1e-6, 1e-2)}
    trials = search(*columns, n_actions=4, max_rank=300, **grid)
    assert [trial.error for trial in trials] == sorted(trial.error for trial in trials)
    errors = []
    for trial in (trials[0], trials[-1]):
        model = WorldModel(trial.kernel, 4, regularization=trial.regularization).fit(*columns)
        errors.append(sum(model.score(*held_out)))
    assert errors[0] < 0.1 * errors[1]
    np.testing.assert_allclose(trials[0].kernel.bandwidth, np.ptp(columns[0], axis=0))


def test_the_search_refuses_what_it_cannot_divide_or_scale():
    with pytest.raises(ValueError, match="folds"):
        search(*wandering(40), n_actions=4, folds=1)
    with pytest.raises(ValueError, match="Dirac"):
        search(*[np.zeros(4, int)] * 5, n_actions=4)
