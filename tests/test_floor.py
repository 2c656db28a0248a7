"""The floor: bounds that hold against brute force, and figures that can be checked by hand."""

import itertools

import gymnasium
import numpy as np
import pytest

from powr.tabular import TabularMDP, greedy_policy
from suite.floor import fastest_climb, floor, lower_bound, upper_bound
from suite.floor.finite import END, Task


def random_task(rng, n_states=3, n_actions=2, horizon=4):
    """A deterministic task with one or two starts and some pairs that terminate."""
    next_states = rng.integers(n_states + 1, size=(n_states, n_actions)) - 1
    next_states[rng.integers(n_states), rng.integers(n_actions)] = END
    starts = np.zeros(n_states)
    starts[rng.choice(n_states, size=rng.integers(1, 3), replace=False)] = 1
    rewards = rng.integers(-2, 3, size=(n_states, n_actions)).astype(float)
    transitions = np.zeros((n_states, n_actions, n_states))
    for s, a in zip(*np.nonzero(next_states != END), strict=True):
        transitions[s, a, next_states[s, a]] = 1
    return TabularMDP.from_arrays(
        transitions, rewards=rewards, initial_distribution=starts / starts.sum(), horizon=horizon
    )


def pairs_of(task, policy):
    """The pairs on the policy's way from every start."""
    used = set()
    for state in np.flatnonzero(task.starts):
        for _ in range(task.horizon):
            if state == END:
                break
            used.add((int(state), policy[state]))
            state = task.next_states[state, policy[state]]
    return frozenset(used)


def shortest_tour(task, mdp, threshold):
    """The fewest timesteps until the pairs of some policy at the threshold are tried: by search."""
    n_states, n_actions = task.rewards.shape
    wanted = {
        pairs_of(task, policy)
        for policy in itertools.product(range(n_actions), repeat=n_states)
        if mdp.expected_return(np.eye(n_actions)[list(policy)]) >= threshold - 1e-9
    }
    begin = [(int(s), 0) for s in np.flatnonzero(task.starts)]
    frontier = {(place, frozenset()) for place in begin}
    seen = set(frontier)
    for timesteps in itertools.count(1):
        reached = set()
        for ((state, clock), tried), action in itertools.product(frontier, range(n_actions)):
            after = tried | {(state, action)}
            if any(pairs <= after for pairs in wanted):
                return timesteps
            state = int(task.next_states[state, action])
            over = state == END or clock + 1 == task.horizon
            places = begin if over else [(state, clock + 1)]
            reached |= {(place, after) for place in places}
        frontier = reached - seen
        seen |= frontier


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("shortfall", [0.0, 0.6])
def test_the_shortest_tour_lies_between_the_bounds(seed, shortfall):
    mdp = random_task(np.random.default_rng(seed))
    task = Task.of(mdp)
    best = greedy_policy(mdp.optimal_action_values(0.9999))
    threshold = mdp.expected_return(best) - shortfall
    shortest = shortest_tour(task, mdp, threshold)
    assert 1 <= lower_bound(task, threshold) <= shortest <= upper_bound(task, mdp, threshold)


def test_a_corridor_is_walked_once():
    env = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=False)
    assert floor(env, 0.8)[:2] == (6, 6)


def test_every_start_of_taxi_counts():
    env = gymnasium.make("Taxi-v3")
    task = Task.of(TabularMDP.from_env(env))
    low, at_optimum = lower_bound(task, 6.0), lower_bound(task, 7.93 - 1e-6)
    upper = upper_bound(task, TabularMDP.from_env(env), 6.0)
    assert (low, at_optimum, upper) == (330, 553, 802)  # as in docs/peers.md


def test_the_climb_is_no_faster_than_the_bound_and_no_slower_than_a_driver():
    env = gymnasium.make("MountainCar-v0", max_episode_steps=1000)
    lower, upper = fastest_climb(env.unwrapped, cells=200)

    def climb(seed):
        (_, speed), _ = env.reset(seed=seed)
        for steps in itertools.count(1):
            (_, speed), _, terminated, _, _ = env.step(2 if speed >= 0 else 0)
            if terminated:
                return steps

    assert 50 < lower <= upper <= min(map(climb, range(20)))


@pytest.mark.parametrize(
    ("env", "threshold", "reason"),
    [
        ("FrozenLake-v1", 0.7, "random"),
        ("CartPole-v1", 475.0, "no table"),
        ("Taxi-v3", 8.0, "no policy returns 8"),
        ("CliffWalking-v1", -13.0, "no time limit"),
    ],
)
def test_no_floor_has_a_reason(env, threshold, reason):
    lower, upper, found = floor(gymnasium.make(env), threshold)
    assert lower is upper is None
    assert reason in found
