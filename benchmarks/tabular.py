"""The tabular path: PMD steps per second, and the share of training spent inside `env.step`."""

from __future__ import annotations

import time
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
        learn, step = map(list, zip(*rounds, strict=True))
        overhead.append(
            {
                "environment": environment,
                "timesteps": timesteps,
                "agent.learn": Spread.of(learn),
                "env.step": Spread.of(step),
                "share": ratios(step, learn),
            }
        )
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


class Clocked(gymnasium.Wrapper):
    """Adds up the CPU seconds inside `step`, and counts the calls."""

    in_step, steps = 0.0, 0

    def step(self, action: int):
        start = time.process_time()
        outcome = self.env.step(action)
        self.in_step += time.process_time() - start
        self.steps += 1
        return outcome


class Idle(gymnasium.Env):
    """Its step does nothing, so that what is measured of it is the measuring."""

    def step(self, action: int) -> None:
        pass


def cost_of_clocking() -> tuple[float, float]:
    """Seconds that the clock adds to a call, and how many of them it counts as inside."""
    env = Clocked(Idle())
    seconds, _ = timed(lambda: [env.step(0) for _ in range(IDLE_STEPS)])
    return seconds / IDLE_STEPS, env.in_step / IDLE_STEPS


def time_inside_env(settings: dict[str, Any], timesteps: int) -> tuple[float, float]:
    """Seconds of a run, and those inside `env.step`; what the clock itself takes is taken off."""
    env = Clocked(environments.make(settings["environment"]))
    seconds, _ = timed(lambda: OptimisticPOWR(env, seed=0).learn(timesteps))
    call, inside = cost_of_clocking()
    return seconds - call * env.steps, env.in_step - inside * env.steps
