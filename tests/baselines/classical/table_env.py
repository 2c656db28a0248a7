"""Finite environments with exact solutions, plain or as points of a box."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from powr.tabular import TabularMDP


class TableEnv(gymnasium.Env):
    """Plays a TabularMDP, which may stop an episode at random; truncates after its horizon.

    With `as_box` the states are points of equal distance on a line.
    """

    def __init__(self, mdp: TabularMDP, as_box: bool = False) -> None:
        self.mdp, self.as_box = mdp, as_box
        self.action_space = Discrete(mdp.n_actions)
        self._cumulative = mdp.transitions.toarray().cumsum(axis=1)
        self.points = np.linspace(0.0, 1.0, max(2, mdp.n_states))[:, None]
        self.observation_space = Box(0.0, 1.0, (1,), float) if as_box else Discrete(mdp.n_states)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = int(self.np_random.choice(self.mdp.n_states, p=self.mdp.initial_distribution))
        self.time = 0
        return self.observation(), {}

    def step(self, action):
        reward = self.mdp.rewards[self.state, action]
        cumulative = self._cumulative[self.state * self.mdp.n_actions + action]
        drawn = int(np.searchsorted(cumulative, self.np_random.random(), side="right"))
        terminated = drawn == self.mdp.n_states
        self.state = self.state if terminated else drawn
        self.time += 1
        return self.observation(), reward, terminated, self.time == self.mdp.horizon, {}

    def observation(self):
        return self.points[self.state] if self.as_box else self.state


def random_mdp(
    seed: int, *, n_states: int = 5, n_actions: int = 2, branches: int = 1, termination: float = 0.0
) -> TabularMDP:
    """Pairs lead to `branches` random states each, action 0 to the next one: all are reached."""
    rng = np.random.default_rng(seed)
    transitions = np.zeros((n_states, n_actions, n_states))
    onwards = np.roll(np.eye(n_states), 1, axis=1)
    for s in range(n_states):
        for a in range(n_actions):
            targets = rng.choice(n_states, size=branches, replace=False)
            transitions[s, a, targets] = rng.dirichlet(np.ones(branches))
        share = 1.0 if branches == 1 else 0.5
        transitions[s, 0] = share * onwards[s] + (1 - share) * transitions[s, 0]
    return TabularMDP.from_arrays(
        transitions * (1 - termination),
        rewards=rng.uniform(-1.0, 0.0, size=(n_states, n_actions)),
        initial_distribution=np.full(n_states, 1 / n_states),
        horizon=20,
    )


def loop(terminates: bool, as_box: bool) -> TableEnv:
    """One state that pays 1 per step: the episode ends after one, or is cut off after ten."""
    mdp = TabularMDP.from_arrays(
        [[[0.0 if terminates else 1.0]]], rewards=[[1.0]], initial_distribution=[1.0], horizon=10
    )
    return TableEnv(mdp, as_box)
