"""How far the action values of a model of low rank are from the exact solve on the same data.

The data is what POWR collects on MountainCar with its tuned settings, the policy is the one it ends
with; the ranks are those of the ablation `rank` in envs.yaml, whose runs show what the errors do.

    python -m suite rank-error
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import threadpoolctl
from numpy.typing import NDArray

from powr import POWR
from powr.world_model import WorldModel
from suite import config
from suite.command import write_result
from suite.results.aggregate import to_csv
from suite.training import environments
from suite.training.algorithms import build_kernel

ENVIRONMENT = "MountainCar-v0"
TIMESTEPS = 2000
SEEDS = 3
DEFAULT_REGULARIZATION = 1e-6  # that of POWR, beside the tuned one


class Recorded(gymnasium.Wrapper):
    """Keeps the transitions of an environment, as `WorldModel.fit` takes them."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        self.transitions: list[tuple[Any, ...]] = []

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        self.observation, info = self.env.reset(**arguments)
        return self.observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        before = self.observation
        self.observation, reward, terminated, truncated, info = self.env.step(action)
        self.transitions.append((before, action, reward, self.observation, terminated))
        return self.observation, reward, terminated, truncated, info


def collect(
    study: Mapping[str, Any], timesteps: int, seed: int
) -> tuple[POWR, tuple[NDArray, ...]]:
    """An agent with the tuned settings, and the transitions it learned from."""
    settings = config.resolve(study, "paper", ENVIRONMENT, "powr")["algorithm"]["settings"]
    env = Recorded(environments.make(study["environments"][ENVIRONMENT]))
    kernel = build_kernel(**settings.pop("kernel"))
    agent = POWR(env, kernel=kernel, seed=seed, **settings).learn(timesteps)
    return agent, tuple(map(np.array, zip(*env.transitions, strict=True)))


def errors(
    study: Mapping[str, Any], agent: POWR, data: tuple[NDArray, ...]
) -> list[dict[str, Any]]:
    """Of each variant of the ablation: the largest error of the action values, relative to the
    largest value, and the share of states with another greedy action.
    """

    def values(regularization: float, **how: Any) -> NDArray:
        # With no tolerance the rank alone decides.
        model = WorldModel(
            agent.kernel_,
            agent.n_actions,
            regularization=regularization,
            tolerance=0.0,
            prior=agent.prior,
            **how,
        )
        q = model.fit(*data).action_values(agent.action_probabilities, agent.gamma)
        return q(model.states_)

    rows = []
    for regularization in (agent.regularization, DEFAULT_REGULARIZATION):
        exact = values(regularization, method="exact")
        for variant in config.variants(study, "rank"):
            approximate = values(regularization, **variant.varied)
            rows.append(
                {
                    "regularization": regularization,
                    **variant.varied,
                    "error": np.abs(approximate - exact).max() / np.abs(exact).max(),
                    "other_greedy": np.mean(approximate.argmax(axis=1) != exact.argmax(axis=1)),
                }
            )
    return rows


def compute(study: Mapping[str, Any], timesteps: int, seeds: int) -> pd.DataFrame:
    return pd.DataFrame(
        {"seed": seed, "transitions": timesteps, **row}
        for seed in range(seeds)
        for row in errors(study, *collect(study, timesteps, seed))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="suite rank-error", description=__doc__.splitlines()[0])
    parser.add_argument("--envs", default="envs.yaml", help="the choices (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        with threadpoolctl.threadpool_limits(1):
            table = compute(config.load(options.envs), TIMESTEPS, SEEDS)
        return {options.results / config.ABLATIONS / "rank_error.csv": to_csv(table)}

    return write_result(parser.prog, make)
