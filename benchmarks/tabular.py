"""The tabular path: PMD steps per second, and the share of training spent inside `env.step`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from benchmarks.measure import Spread, ratios, timed
from benchmarks.table import Table
from powr import POWR, OptimisticPOWR
from powr.mirror_descent import mirror_descent
from suite import config
from suite.training import environments, provenance

NAME = "tabular"
ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3")
QUICK_TIMESTEPS = 1000
STEPS = 200  # of mirror descent in one measurement
IDLE_STEPS = 10_000  # to know what the clock costs


class Clocked(gymnasium.Wrapper):
    """Adds up the seconds inside `step` and inside `reset`, and counts the calls."""

    def __init__(self, env: gymnasium.Env, clock: Callable[[], float] = time.process_time):
        super().__init__(env)
        self.clock = clock
        self.in_step = self.in_reset = 0.0
        self.steps = self.resets = 0

    def reset(self, **arguments: Any):
        start = self.clock()
        outcome = self.env.reset(**arguments)
        self.in_reset += self.clock() - start
        self.resets += 1
        return outcome

    def step(self, action: int):
        start = self.clock()
        outcome = self.env.step(action)
        self.in_step += self.clock() - start
        self.steps += 1
        return outcome


class Idle(gymnasium.Env):
    """Its step does nothing, so that what is measured of it is the measuring."""

    def step(self, action: int) -> None:
        pass


def tables(quick: bool, repeats: int) -> list[Table]:
    study = config.load(provenance.ROOT / "envs.yaml")
    planning, overhead = [], []
    for environment in ENVIRONMENTS:
        settings = config.resolve(study, "paper", environment, "powr")
        timesteps = QUICK_TIMESTEPS if quick else settings["timesteps"]
        env = environments.make(settings["environment"])
        agent = POWR(env, seed=0).learn(timesteps)
        planning.append({"environment": environment, **steps_a_second(agent, repeats)})
        rounds = [time_inside_env(settings, timesteps) for _ in range(repeats)]
        overhead.append({"environment": environment, "timesteps": timesteps, **shares(rounds)})
    return [
        Table(NAME, "PMD steps a second in the empirical MDP that a run ends with", planning),
        Table(
            "overhead",
            "Share of OptimisticPOWR.learn spent inside env.step",
            overhead,
            ("Clocked call by call within the run; what the clock itself takes is taken off.",),
        ),
    ]


def steps_a_second(agent: POWR, repeats: int) -> dict[str, Any]:
    model = agent.model_
    uniform = np.zeros((len(model.states_), agent.n_actions))
    descend = partial(mirror_descent, model, uniform, steps=STEPS, step_size=1.0, gamma=0.99)
    seconds = [timed(descend)[0] for _ in range(repeats)]
    return {
        "states": len(model.states_),
        "transitions": model.n_transitions_,
        "PMD steps a second": Spread.of(STEPS / time for time in seconds),
    }


def time_inside_env(settings: dict[str, Any], timesteps: int) -> dict[str, float]:
    """Seconds of a run and of those the ones inside its environment's methods."""
    env = Clocked(environments.make(settings["environment"]))
    seconds, _ = timed(lambda: OptimisticPOWR(env, seed=0).learn(timesteps))
    return without_clock(seconds, env, *cost_of_clocking())


def without_clock(seconds: float, env: Clocked, call: float, inside: float) -> dict[str, float]:
    """The same seconds without those of measuring: of each call, and of these counted inside."""
    return {
        "learn": seconds - call * (env.steps + env.resets),
        "step": env.in_step - inside * env.steps,
        "reset": env.in_reset - inside * env.resets,
    }


def cost_of_clocking() -> tuple[float, float]:
    """Seconds that the clock adds to a call, and how many of them it counts as inside."""
    env = Clocked(Idle())
    seconds, _ = timed(lambda: [env.step(0) for _ in range(IDLE_STEPS)])
    return seconds / IDLE_STEPS, env.in_step / IDLE_STEPS


def shares(rounds: list[dict[str, float]]) -> dict[str, Any]:
    learn, step, reset = ([times[name] for times in rounds] for name in ("learn", "step", "reset"))
    return {
        "agent.learn": Spread.of(learn),
        "env.step": Spread.of(step),
        "share": ratios(step, learn),
        "share of env.reset": ratios(reset, learn),
    }
