"""The tabular path: PMD steps per second, and the environment's share of the time of a training."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from optimistic_powr import OptimisticPOWR

from benchmarks.measure import Table, ratios, spread, timed
from powr import POWR
from powr.mirror_descent import mirror_descent
from suite import config
from suite.training import environments, provenance

ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3")
QUICK_TIMESTEPS = 1000
STEPS = 200  # of mirror descent in one measurement


def tables(quick: bool, repeats: int) -> list[Table]:
    study = config.load(provenance.ROOT / "envs.yaml")
    planning, overhead = [], []
    for name in ENVIRONMENTS:
        settings = study.scales["paper"].combination(name, "powr").settings
        timesteps = QUICK_TIMESTEPS if quick else settings["timesteps"]
        agent = POWR(environments.make(settings["environment"]), seed=0).learn(timesteps)
        planning.append({"environment": name, **steps_a_second(agent, repeats)})
        learn, play = [], []
        for _ in range(repeats):
            env = environments.make(settings["environment"])
            seconds, agent = timed(partial(OptimisticPOWR(env, seed=0).learn, timesteps))
            learn.append(seconds)
            play.append(timed(partial(replay, env, agent.data.columns()[1]))[0])
        row = {"environment": name, "timesteps": timesteps, **spread("agent.learn", learn)}
        overhead.append(row | spread("replay", play) | ratios("share", play, learn))
    return [
        Table("tabular", "PMD steps a second in the empirical MDP that a run ends with", planning),
        Table(
            "overhead",
            "The environment's share of the time of OptimisticPOWR.learn",
            overhead,
            "Replay: the same actions, played without the agent.",
        ),
    ]


def steps_a_second(agent: POWR, repeats: int) -> dict[str, Any]:
    model = agent.model_
    uniform = np.zeros((len(model.states_), agent.n_actions))
    descend = partial(mirror_descent, model, uniform, steps=STEPS, step_size=1.0, gamma=0.99)
    speeds = [STEPS / timed(descend)[0] for _ in range(repeats)]
    counts = {"states": len(model.states_), "transitions": model.n_transitions_}
    return counts | spread("PMD steps a second", speeds)


def replay(env: gymnasium.Env, actions: NDArray) -> None:
    env.reset(seed=0)
    for action in actions:
        _, _, terminated, truncated, _ = env.step(int(action))
        if terminated or truncated:
            env.reset()
