"""The tabular path: PMD steps per second, and the share of training spent inside `env.step`."""

from __future__ import annotations

from functools import partial
from typing import Any

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


def tables(quick: bool, repeats: int) -> list[Table]:
    study = config.load(provenance.ROOT / "envs.yaml")
    planning, overhead = [], []
    for environment in ENVIRONMENTS:
        settings = config.resolve(study, "paper", environment, "powr")
        timesteps = QUICK_TIMESTEPS if quick else settings["timesteps"]
        env = environments.make(settings["environment"])
        agent = POWR(env, seed=0).learn(timesteps)
        planning.append({"environment": environment, **steps_a_second(agent, repeats)})
        rounds = [time_of_env(settings, timesteps) for _ in range(repeats)]
        overhead.append({"environment": environment, "timesteps": timesteps, **shares(rounds)})
    return [
        Table(NAME, "PMD steps a second in the empirical MDP that a run ends with", planning),
        Table(
            "overhead",
            "Share of OptimisticPOWR.learn spent inside env.step",
            overhead,
            ("Of the environment: the same actions once more, without the agent.",),
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


def time_of_env(settings: dict[str, Any], timesteps: int) -> dict[str, float]:
    """Seconds of a run, and of its steps and resets when they are taken again without the agent."""
    env = environments.make(settings["environment"])
    agent = OptimisticPOWR(env, seed=0)
    learn, _ = timed(lambda: agent.learn(timesteps))
    actions, ended = agent.data.columns()[1].tolist(), agent.data.ended.tolist()

    def play() -> None:
        env.reset(seed=0)
        for action, is_last in zip(actions, ended, strict=True):
            env.step(action)
            if is_last:
                env.reset(seed=0)

    reset, _ = timed(lambda: [env.reset(seed=0) for _ in range(1 + sum(ended))])
    return {"learn": learn, "step": timed(play)[0] - reset, "reset": reset}


def shares(rounds: list[dict[str, float]]) -> dict[str, Any]:
    learn, step, reset = ([times[name] for times in rounds] for name in ("learn", "step", "reset"))
    return {
        "agent.learn": Spread.of(learn),
        "env.step": Spread.of(step),
        "share": ratios(step, learn),
        "share of env.reset": ratios(reset, learn),
    }
