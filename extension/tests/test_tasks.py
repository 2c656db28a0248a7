"""The environments that Gymnasium lacks: interface, seeds, and what they say they do."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tasks.noise import CART_POLE_RANGES
from tasks.operations import Maintenance, QueueAdmission

from extension.tests.decisions import mean_return
from powr.tabular import TabularMDP
from suite import config

STUDY = config.load("extension/study.yaml")
MADE = {
    "Navigation-v0": {},
    "NavigationWall-v0": {},
    "PendulumTorques-v0": {},
    "NoisyMountainCar-v0": {"noise": 0.01},
    "NoisyCartPole-v0": {"noise": 0.05},
    "Inventory-v0": {},
    "Maintenance-v0": {},
    "QueueAdmission-v0": {},
    "Pricing-v0": {},
    "PutOption-v0": {},
    "Offers-v0": {},
    "Thermostat-v0": {},
    "StoppingCart-v0": {},
}
LIMITS = {
    "NoisyCartPole-v0": 500,
    "Inventory-v0": 60,
    "Maintenance-v0": 100,
    "QueueAdmission-v0": 100,
    "Pricing-v0": 40,
    "PutOption-v0": None,  # ends by itself
    "Offers-v0": None,
    "Thermostat-v0": 100,
}
RIGHT, UP, LEFT, DOWN = range(4)
every_task = pytest.mark.parametrize("name", MADE)


def make(name):
    return gymnasium.make(f"tasks:{name}", **MADE[name])


def trace(name, seed):
    """Everything that 300 random actions show."""
    env, rng = make(name), np.random.default_rng(0)
    seen = [env.reset(seed=seed)[0]]
    for _ in range(300):
        observation, reward, terminated, truncated, _ = env.step(rng.integers(env.action_space.n))
        seen.append(np.append(observation, reward))
        if terminated or truncated:
            seen.append(env.reset()[0])
    return np.concatenate([np.atleast_1d(each) for each in seen])


@every_task
# Velocities of CartPole have no bounds, which the checker mentions.
@pytest.mark.filterwarnings("ignore:.*A Box observation space (minimum|maximum) value is")
def test_keeps_to_the_interface_of_gymnasium(name):
    check_env(make(name).unwrapped, skip_render_check=True)
    assert make(name).spec.max_episode_steps == LIMITS.get(name, 200)


@every_task
def test_the_seed_decides_everything(name):
    np.testing.assert_array_equal(trace(name, seed=5), trace(name, seed=5))
    assert not np.array_equal(trace(name, seed=5), trace(name, seed=6))


def at(env, *position):
    env.reset(seed=0)
    env.position = np.array(position)
    return env


def test_moves_end_at_the_edge_the_disc_and_the_wall():
    env = at(make("Navigation-v0").unwrapped, 0.05, 0.5)
    np.testing.assert_allclose(env.step(LEFT)[0], [0.0, 0.5])
    np.testing.assert_allclose(env.step(UP)[0], [0.0, 0.58])
    at(env, 0.6, 0.8)
    assert env.step(RIGHT)[1:3] == (0.0, False)
    assert env.step(RIGHT)[1:3] == (1.0, True)
    env = make("NavigationWall-v0").unwrapped
    np.testing.assert_allclose(at(env, 0.48, 0.3).step(RIGHT)[0], [0.48, 0.3])
    np.testing.assert_allclose(at(env, 0.52, 0.3).step(LEFT)[0], [0.52, 0.3])
    np.testing.assert_allclose(at(env, 0.48, 0.7).step(RIGHT)[0], [0.54, 0.7])


@pytest.mark.parametrize(("name", "top"), [("Navigation-v0", 0.0), ("NavigationWall-v0", 0.62)])
def test_the_disc_can_be_reached_from_every_start(name, top):
    def walk(position):
        x, y = position - goal
        if position[0] < 0.5 and position[1] < top:
            return UP
        if abs(x) > move / 2:
            return LEFT if x > 0 else RIGHT
        return DOWN if y > 0 else UP

    env = make(name)
    goal, move = env.unwrapped.goal, env.unwrapped.move
    assert mean_return(env, walk, episodes=50) == 1.0


def test_the_torques_of_the_pendulum_are_those_of_gymnasium():
    ours, theirs = make("PendulumTorques-v0"), gymnasium.make("Pendulum-v1")
    assert ours.action_space == gymnasium.spaces.Discrete(5)
    ours.reset(seed=3)
    theirs.reset(seed=3)
    for action, torque in enumerate([-2.0, -1.0, 0.0, 1.0, 2.0]):
        observation, reward, *_ = ours.step(action)
        expected, expected_reward, *_ = theirs.step(np.array([torque]))
        np.testing.assert_array_equal(observation, expected)
        assert reward == pytest.approx(expected_reward)


def test_a_swing_by_energy_meets_the_threshold_of_the_pendulum():
    """The threshold is one that a known controller reaches."""

    def swing(observation):
        cos, sin, velocity = observation
        energy = velocity**2 / 6 + 5 * (cos - 1)  # 0 at rest upright
        if cos > 0.9:
            torque = -10 * np.arctan2(sin, cos) - 2 * velocity
        else:
            torque = np.copysign(2, -energy * velocity) if abs(energy) > 0.2 else 0.0
        return int(np.abs(env.unwrapped.torques - torque).argmin())

    env = make("PendulumTorques-v0")
    assert mean_return(env, swing, episodes=20) > STUDY.environments["Pendulum"].thresholds[0]


@pytest.mark.parametrize("name", ["MountainCar", "CartPole"])
def test_without_noise_it_is_gymnasiums_own(name):
    ours = gymnasium.make(f"tasks:Noisy{name}-v0", noise=0.0)
    theirs = gymnasium.make(f"{name}-v{0 if name == 'MountainCar' else 1}")
    np.testing.assert_array_equal(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
    for action in (0, 1, 1, 0):
        observation, *rest = ours.step(action)
        expected, *expected_rest = theirs.step(action)
        np.testing.assert_array_equal(observation, expected)
        assert rest == expected_rest


def test_the_noise_is_a_share_of_each_range():
    env = gymnasium.make("tasks:NoisyCartPole-v0", noise=0.01).unwrapped
    env.reset(seed=0)
    ends = []
    for _ in range(2000):
        env.state = np.zeros(4)
        ends.append(env.step(1)[0])
    # Angles and velocities act on one another within a step, by little.
    np.testing.assert_allclose(np.std(ends, axis=0), 0.01 * CART_POLE_RANGES, rtol=0.1)


# -- operations -----------------------------------------------------------------------------------


def order_up_to_16(stock):
    return min(16 - stock, 12) if stock < 6 else 0


def service_early(wear):
    if wear < 2:
        return Maintenance.RUN
    return Maintenance.SERVICE if wear < 8 else Maintenance.REPLACE


def admit_who_pays_for_the_wait(observation):
    length, kind = observation
    return QueueAdmission.ADMIT if length < (0, 1, 6)[kind] else QueueAdmission.REFUSE


def one_price(_left):
    return 25  # asks 26


# A rule that one would write by hand, and the least share of the way from random play to the best
# return of any policy that it goes.
RULES = {
    "Inventory-v0": (order_up_to_16, 0.95),
    "Maintenance-v0": (service_early, 0.98),
    "QueueAdmission-v0": (admit_who_pays_for_the_wait, 0.95),
    "Pricing-v0": (one_price, 0.85),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_by_hand_is_near_the_optimum_of_operations_and_plays_as_the_table_says(name):
    env, (rule, share) = make(name), RULES[name]
    mdp = TabularMDP.from_env(env)
    shape = env.unwrapped.shape
    observations = [parts[0] if len(shape) == 1 else parts for parts in np.ndindex(*shape)]
    policy = np.eye(mdp.n_actions)[[rule(observation) for observation in observations]]
    by_rule, optimum = mdp.expected_return(policy), mdp.optimal_return()
    random = mdp.expected_return(np.full_like(policy, 1 / mdp.n_actions))
    assert random + share * (optimum - random) < by_rule <= optimum
    played = mean_return(env, rule, episodes=300)
    assert played == pytest.approx(by_rule, abs=0.1 * (optimum - random))
