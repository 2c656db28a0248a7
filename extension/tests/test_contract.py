"""OptimisticPOWR passes what every agent must pass, and keeps settings and choices in files."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from optimistic_powr import OptimisticPOWR

from powr.episodes import rollout
from powr.tabular import TabularMDP, greedy_policy
from tests.powr.contract import AgentContract, assert_setting_is_refused
from tests.powr.environments import Untouchable

NAN, INF = float("nan"), float("inf")


class TestOptimisticPOWR(AgentContract):
    cls = OptimisticPOWR
    parts = (
        ("powr.data.Counts.add", False),
        ("optimistic_powr.returns.ReturnRange.observe", False),
        ("optimistic_powr.displacement.DisplacementModel._solve", True),
    )
    timesteps_on_the_lake = 500


def test_the_way_across_slippery_ice_is_found():
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    agent = OptimisticPOWR(env, seed=1000).learn(4000)
    greedy = greedy_policy(agent.action_probabilities(range(16)))
    assert TabularMDP.from_env(env).expected_return(greedy) >= 0.7


def test_it_drives_up_the_mountain():
    agent = OptimisticPOWR("MountainCar-v0", seed=1000).learn(2000)
    env = gymnasium.make("MountainCar-v0")
    returns = [list(rollout(agent, env, seed=seed))[-1].return_so_far for seed in range(5)]
    assert np.mean(returns) > -140


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("gamma", NAN, ValueError),
        ("step_size", INF, ValueError),
        ("mirror_steps", True, TypeError),
        ("regularization", 0.0, ValueError),
        ("seed", -1, ValueError),
        ("kernel", "Gaussian", TypeError),
        ("prior", INF, ValueError),
        ("plan_within_episodes", 1, TypeError),
        ("cautious", None, TypeError),
        ("keep_best", 0, TypeError),
        ("terminal_values", "yes", TypeError),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name, value, error):
    env = Untouchable(Discrete(4), Discrete(3))
    assert_setting_is_refused(OptimisticPOWR, env, name, value, error)


def test_settings_are_kept(tmp_path):
    given = {"gamma": 0.9, "step_size": 0.3, "mirror_steps": 4, "regularization": 1e-4, "seed": 7}
    given |= {"prior": 3.0, "plan_within_episodes": False, "keep_best": False}
    OptimisticPOWR("FrozenLake-v1", **given).save(tmp_path / "agent.npz")
    loaded = OptimisticPOWR.load(tmp_path / "agent.npz")
    assert {name: getattr(loaded, name) for name in given} == given


def test_another_time_limit_changes_no_policy(tmp_path):
    agent = OptimisticPOWR(gymnasium.make("FrozenLake-v1", max_episode_steps=20)).learn(600)
    agent.save(tmp_path / "agent.npz")
    loaded = OptimisticPOWR.load(tmp_path / "agent.npz", gymnasium.make("FrozenLake-v1"))
    np.testing.assert_array_equal(loaded.action_values(range(16)), agent.action_values(range(16)))
