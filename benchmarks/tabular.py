"""The tabular path: PMD steps a second, and the share of training spent inside `env.step`."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np

from benchmarks.measure import Spread, in_turns, ratios, timed
from benchmarks.table import Table
from powr import POWR
from powr.mirror_descent import mirror_descent
from suite import algorithms, config, environments

NAME = "tabular"
OVERHEAD = "overhead"
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3")
QUICK_TIMESTEPS = 1000
STEPS = 200  # of mirror descent in one measurement

Episode = tuple[int, list[int]]  # seed of its reset, actions


class Recording(gymnasium.Wrapper):
    """Remembers the episodes, so that they can be played again."""

    def __init__(self, env: gymnasium.Env):
        super().__init__(env)
        self.episodes: list[Episode] = []

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        self.episodes.append((seed, []))
        return self.env.reset(seed=seed, options=options)

    def step(self, action: int):
        self.episodes[-1][1].append(action)
        return self.env.step(action)


def tables(quick: bool, repeats: int) -> list[Table]:
    study = config.load("envs.yaml")
    planning, overhead = [], []
    for environment in ENVIRONMENTS:
        settings = config.resolve(study, "paper", environment, "powr")
        timesteps = QUICK_TIMESTEPS if quick else settings["timesteps"]
        recording = Recording(environments.make(settings["environment"]))
        agent = new_agent(settings, recording).learn(timesteps)
        planning.append({"environment": environment, **steps_a_second(agent, repeats)})
        shares = share_inside_env(settings, timesteps, recording.episodes, repeats)
        overhead.append({"environment": environment, "timesteps": timesteps, **shares})
    return [
        Table(NAME, "PMD steps a second in the empirical MDP that a run ends with", planning),
        Table(
            OVERHEAD,
            "Share of agent.learn spent inside env.step, settings of envs.yaml",
            overhead,
            (
                "env.step: the run's own actions played again without an agent, in turns with "
                "agent.learn; resets are taken off.",
            ),
        ),
    ]


def new_agent(settings: dict[str, Any], env: gymnasium.Env) -> POWR:
    arguments = dict(settings["algorithm"]["settings"])
    kernel = algorithms.build_kernel(**arguments.pop("kernel"))
    return POWR(env, kernel=kernel, seed=0, **arguments)


def steps_a_second(agent: POWR, repeats: int) -> dict[str, Any]:
    model = agent.model_
    uniform = np.zeros((len(model.states_), agent.n_actions))
    descend = partial(
        mirror_descent, model, uniform, steps=STEPS, step_size=agent.step_size, gamma=agent.gamma
    )
    seconds = [timed(descend)[0] for _ in range(repeats)]
    return {
        "states": len(model.states_),
        "transitions": model.n_transitions_,
        "PMD steps a second": Spread.of(STEPS / time for time in seconds),
    }


def share_inside_env(
    settings: dict[str, Any], timesteps: int, episodes: list[Episode], repeats: int
) -> dict[str, Any]:
    env = environments.make(settings["environment"])
    tasks = {
        "learn": lambda: new_agent(settings, env).learn(timesteps),
        "play": partial(play_again, env, episodes),
        "resets": partial(play_again, env, [(seed, []) for seed, _ in episodes]),
    }
    times = {name: timing.seconds for name, timing in in_turns(tasks, repeats).items()}
    steps = [play - resets for play, resets in zip(times["play"], times["resets"], strict=True)]
    return {
        "agent.learn": Spread.of(times["learn"]),
        "env.step": Spread.of(steps),
        "share": ratios(steps, times["learn"]),
    }


def play_again(env: gymnasium.Env, episodes: list[Episode]) -> None:
    for seed, actions in episodes:
        env.reset(seed=seed)
        for action in actions:
            env.step(action)
