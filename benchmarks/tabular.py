"""The tabular path: PMD steps a second, and the share of training spent inside `env.step`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from benchmarks.measure import Spread, ratios, timed
from benchmarks.table import Table
from powr import POWR
from powr.mirror_descent import mirror_descent
from suite import algorithms, config, environments

NAME = "tabular"
OVERHEAD = "overhead"
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3")
QUICK_TIMESTEPS = 1000
STEPS = 200  # of mirror descent in one measurement
READINGS = 10_000  # of the clock, to know what one costs


class Clocked(gymnasium.Wrapper):
    """Adds up the seconds inside `step` and inside `reset`, and counts the calls."""

    def __init__(self, env: gymnasium.Env, clock: Callable[[], float] = time.process_time):
        super().__init__(env)
        self.clock = clock
        self.seconds = {"step": 0.0, "reset": 0.0}
        self.calls = {"step": 0, "reset": 0}

    def reset(self, **arguments: Any):
        return self._clocked("reset", self.env.reset, **arguments)

    def step(self, action: int):
        return self._clocked("step", self.env.step, action)

    def _clocked(self, name: str, call: Callable, *arguments: Any, **keywords: Any):
        start = self.clock()
        outcome = call(*arguments, **keywords)
        self.seconds[name] += self.clock() - start
        self.calls[name] += 1
        return outcome


def tables(quick: bool, repeats: int) -> list[Table]:
    study = config.load("envs.yaml")
    planning, overhead = [], []
    for environment in ENVIRONMENTS:
        settings = config.resolve(study, "paper", environment, "powr")
        timesteps = QUICK_TIMESTEPS if quick else settings["timesteps"]
        agent = new_agent(settings, environments.make(settings["environment"])).learn(timesteps)
        planning.append({"environment": environment, **steps_a_second(agent, repeats)})
        rounds = [time_inside_env(settings, timesteps) for _ in range(repeats)]
        overhead.append({"environment": environment, "timesteps": timesteps, **shares(rounds)})
    return [
        Table(NAME, "PMD steps a second in the empirical MDP that a run ends with", planning),
        Table(
            OVERHEAD,
            "Share of agent.learn spent inside env.step, settings of envs.yaml",
            overhead,
            ("Clocked call by call within the run; what the clock itself takes is taken off.",),
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


def time_inside_env(settings: dict[str, Any], timesteps: int) -> dict[str, float]:
    """Seconds of a run and of those the ones inside its environment's methods."""
    env = Clocked(environments.make(settings["environment"]))
    seconds, _ = timed(lambda: new_agent(settings, env).learn(timesteps))
    return without_clock(seconds, env, seconds_a_reading(env.clock))


def without_clock(seconds: float, env: Clocked, reading: float) -> dict[str, float]:
    """The same seconds without those of the clock: two readings a call, of which one inside."""
    inside = {name: env.seconds[name] - reading * env.calls[name] for name in env.seconds}
    return {"learn": seconds - 2 * reading * sum(env.calls.values()), **inside}


def seconds_a_reading(clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(READINGS):
        clock()
    return (clock() - start) / READINGS


def shares(rounds: list[dict[str, float]]) -> dict[str, Any]:
    learn, step, reset = ([times[name] for times in rounds] for name in ("learn", "step", "reset"))
    return {
        "agent.learn": Spread.of(learn),
        "env.step": Spread.of(step),
        "share": ratios(step, learn),
        "share of env.reset": ratios(reset, learn),
    }
