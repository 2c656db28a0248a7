"""The evaluation protocol, on environments whose returns are known."""

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.wrappers import TransformAction

from powr.tabular import TabularMDP
from suite.training import environments
from suite.training.evaluation import Evaluator, draw, grid, play

FROZEN = {"id": "FrozenLake-v1", "kwargs": {"map_name": "4x4", "is_slippery": False}}
SLIPPERY = {"id": "FrozenLake-v1", "kwargs": {"map_name": "4x4", "is_slippery": True}}
TAXI = {"id": "Taxi-v3", "kwargs": {}}
CAR = {"id": "MountainCar-v0", "kwargs": {}}


class TableAgent:
    """An agent with a fixed table of action probabilities, as POWR has them."""

    def __init__(self, table):
        self.table = np.asarray(table, float)
        self.batches = []

    def predict(self, observations, deterministic):
        assert deterministic
        self.batches.append(len(observations))
        return self.table[observations].argmax(axis=1), None

    def action_probabilities(self, observations):
        return self.table[observations]


def random_agent(settings, seed=0):
    env = environments.make(settings)
    shape = (int(env.observation_space.n), int(env.action_space.n))
    table = np.random.default_rng(seed).random(shape)
    return TableAgent(table / table.sum(axis=1, keepdims=True))


def optimal_agent(settings):
    mdp = TabularMDP.from_env(environments.make(settings))
    values = mdp.optimal_action_values(0.99)
    return TableAgent(np.eye(mdp.n_actions)[values.argmax(axis=1)])


def evaluator(settings, sampled_seed=None, **changes):
    return Evaluator(
        settings, **{"episodes": 20, "seed": 1, "sampled_seed": sampled_seed} | changes
    )


# -- the grid -------------------------------------------------------------------------------------


@pytest.mark.parametrize("timesteps", [1, 100, 101, 5_000, 150_000])
def test_grid_follows_its_formula_and_ends_with_the_run(timesteps):
    expected = [round(100 * 10 ** (k / 20)) for k in range(100)]
    earlier = [point for point in expected if point < timesteps]
    assert grid(timesteps, first=100, per_decade=20) == [*earlier, timesteps]


def test_points_inside_a_step_of_several_environments_are_moved_to_its_end():
    points = grid(600, 100, 20, n_envs=16)
    assert points[:3] == [112, 128, 144]
    assert points[-1] == 608
    assert points == sorted(set(points))


# -- episodes -------------------------------------------------------------------------------------


def test_statistics_are_those_of_the_episodes():
    agent = optimal_agent(TAXI)
    result = evaluator(TAXI).evaluate(agent, 100)
    seeds = np.random.default_rng(1).integers(2**31, size=20)
    envs = [environments.make(TAXI) for _ in range(20)]
    returns = play(envs, lambda states: agent.predict(states, deterministic=True)[0], seeds)
    assert (result.mean, result.std) == (returns.mean(), returns.std(ddof=0))
    assert (result.min, result.max, result.episodes) == (returns.min(), returns.max(), 20)
    assert result.std > 0


# -- random streams -------------------------------------------------------------------------------


def test_starts_differ_between_evaluations_and_are_paired_between_agents():
    class Probe(TableAgent):
        def predict(self, observations, deterministic):
            self.batches.append(observations.tolist())
            return super().predict(observations, deterministic)

    def starts(agent):
        protocol = evaluator(TAXI)
        firsts = []
        for _ in range(3):
            agent.batches.clear()
            protocol.evaluate(agent, 100)
            firsts.append(agent.batches[0])
        return firsts

    one = starts(Probe(random_agent(TAXI).table))
    other = starts(Probe(optimal_agent(TAXI).table))
    assert one == other
    assert one[0] != one[1]


def test_sampling_leaves_the_deterministic_columns_alone():
    agent = random_agent(SLIPPERY)
    plain, both = evaluator(SLIPPERY), evaluator(SLIPPERY, sampled_seed=2)
    for _ in range(3):
        without, with_sampled = plain.evaluate(agent, 100), both.evaluate(agent, 100)
        assert without[:6] == with_sampled[:6]
        assert without.sampled_mean is without.sampled_exact_return is None
        assert with_sampled.sampled_mean is not None


# -- exact returns --------------------------------------------------------------------------------


def test_exact_return_of_known_policies():
    assert evaluator(FROZEN).evaluate(optimal_agent(FROZEN), 100).exact_return == pytest.approx(1.0)
    assert evaluator(TAXI).evaluate(optimal_agent(TAXI), 100).exact_return == pytest.approx(7.93)
    assert evaluator(CAR).mdp is None


def test_sampled_exact_return_is_what_many_sampled_episodes_average_to():
    agent = TableAgent((optimal_agent(SLIPPERY).table + random_agent(SLIPPERY).table) / 2)
    result = evaluator(SLIPPERY, sampled_seed=2, episodes=400).evaluate(agent, 100)
    share = result.sampled_exact_return  # of the episodes that reach the goal, which pays 1
    error = np.sqrt(share * (1 - share) / result.episodes)
    assert result.sampled_mean == pytest.approx(share, abs=4 * error)
    assert abs(result.exact_return - share) > 10 * error


def test_how_actions_are_numbered_changes_nothing(monkeypatch):
    class Renumbered(TableAgent):
        def predict(self, observations, deterministic):
            return 5 + super().predict(observations, deterministic)[0], None

    table = optimal_agent(SLIPPERY).table
    expected = evaluator(SLIPPERY, sampled_seed=2).evaluate(TableAgent(table), 100)
    make = environments.make
    monkeypatch.setattr(
        environments,
        "make",
        lambda settings, seed: TransformAction(
            make(settings, seed), lambda a: a - 5, Discrete(4, start=5)
        ),
    )
    assert evaluator(SLIPPERY, sampled_seed=2).evaluate(Renumbered(table), 100) == expected


def test_draw_never_takes_an_impossible_action():
    class Extreme:
        def __init__(self, value):
            self.value = value

        def random(self, shape):
            return np.full(shape, self.value)

    probabilities = np.array([[0.0, 1.0, 0.0], [0.0, 1 / 3, 2 / 3]])
    assert draw(probabilities, Extreme(0.0)).tolist() == [1, 1]
    assert draw(probabilities, Extreme(np.nextafter(1, 0))).tolist() == [1, 2]


def test_early_evaluations_leave_the_later_starts_those_of_all_algorithms():
    agent = optimal_agent(TAXI)
    late, early = (evaluator(TAXI, sampled_seed=2, shared_from=100) for _ in range(2))
    first = early.evaluate(agent, 10)
    assert early.evaluate(agent, 100) == late.evaluate(agent, 100) != first
