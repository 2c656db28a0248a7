"""Chooses the constants of the textbook peers, and of powr-tuned, on development seeds.

    python -m benchmarks.tune_peers                  every peer
    python -m benchmarks.tune_peers rmax psrl        some of them

The effort is the same for every peer: ten settings per environment, three seeds that no result is
reported on, one budget per environment. results/tuning/<peer>.csv has one row per
environment, setting and seed; what it already holds is not run again, so delete it after a change
of the peer's code. The setting with the smallest median lasting arrival is chosen; the larger mean
final return breaks ties.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import baselines
from powr.files import write_together
from suite import config
from suite.results.arrivals import time_to_lasting
from suite.results.statistics import time_to_threshold
from suite.training import environments
from suite.training.algorithms import own_arguments
from suite.training.evaluation import Evaluator, grid
from suite.training.run import seed_streams

FOLDER = Path("results", "tuning")
SEEDS = (1000, 1001, 1002)
TIMESTEPS = {
    "FrozenLake-v1": 10_000,
    "Taxi-v3": 60_000,
    "MountainCar-v0": 40_000,
    "FrozenLake-slippery-4x4": 20_000,
    "FrozenLake-slippery-8x8": 50_000,
    "CliffWalking-v1": 3_000,
    "CartPole-v1": 10_000,
    "Acrobot-v1": 5_000,
}
# POWR plans after every episode, so that its cost grows with the square of the timesteps, and PSRL
# plans as often.
SHORTER = {("powr", "MountainCar-v0"): 8_000, ("psrl", "FrozenLake-slippery-8x8"): 20_000}

Setting = dict[str, Any]


def product(**values: Any) -> list[Setting]:
    """Every combination; a value that is no list stands in all of them."""
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*lists)]


DYNA_Q_GREEDY = {"gamma": 0.95, "learning_rate": 1.0, "epsilon": 0.0}
DYNA_Q_OF_THE_TEXTBOOK = product(
    initial_value=0.0, planning_steps=50, gamma=0.95, learning_rate=[0.1, 1.0], epsilon=0.1
)


DYNA_Q_ON_ICE = [
    *product(
        initial_value=1.0,
        planning_steps=10,
        gamma=[0.95, 0.99],
        learning_rate=[0.03, 0.1, 0.3],
        epsilon=0.0,
    ),
    *product(
        initial_value=1.0, planning_steps=50, gamma=0.99, learning_rate=[0.03, 0.1], epsilon=0.0
    ),
    *product(
        initial_value=0.0, planning_steps=10, gamma=0.99, learning_rate=[0.03, 0.1], epsilon=0.1
    ),
]
PSRL_ON_ICE = [
    *product(
        prior_visits=[0.01, 0.1, 1.0],
        reward_mean=0.0,
        reward_std=[0.03, 0.3],
        reward_noise=0.01,
        gamma=0.99,
    ),
    *product(
        prior_visits=0.1, reward_mean=0.0, reward_std=[0.03, 0.3], reward_noise=0.3, gamma=0.99
    ),
    *product(
        prior_visits=0.1, reward_mean=0.0, reward_std=[0.03, 0.3], reward_noise=0.01, gamma=0.95
    ),
]
# CartPole-v1 ends beyond the first and the third; its two velocities have no bounds.
CART_POLE_BOUNDS = ((-2.4, 2.4), (-3.0, 3.0), (-0.21, 0.21), (-3.5, 3.5))
# Boxes of four and six dimensions fill up: fewer points and plans keep a run within a minute.
CME_IN_LARGE_BOXES = {"max_points": 1000, "growth": 0.2}


def powr_kernel(name: str, bandwidth: list[float]) -> Setting:
    return {"kernel": {"name": name, "bandwidth": bandwidth}, "max_rank": 600}


SETTINGS: dict[str, dict[str, list[Setting]]] = {
    "powr": {
        "FrozenLake-v1": [
            *product(step_size=[0.1, 1.0], mirror_steps=[1, 10], restart=[False, True]),
            *product(step_size=10.0, mirror_steps=10, restart=[False, True]),
        ],
        "Taxi-v3": [
            *product(step_size=0.1, mirror_steps=1, restart=False),
            *product(step_size=[0.003, 0.01], mirror_steps=10, restart=False),
            *product(step_size=[0.1, 0.03, 0.01], mirror_steps=[10, 30], restart=True),
            *product(step_size=0.01, mirror_steps=100, restart=True),
        ],
        "MountainCar-v0": [
            *product(
                step_size=[0.1, 1.0],
                mirror_steps=1,
                restart=False,
                **powr_kernel("Gaussian", [0.1, 0.01]),
            ),
            *product(
                step_size=[0.1, 1.0],
                mirror_steps=1,
                restart=False,
                **powr_kernel("Exponential", [0.6, 0.06]),
            ),
            *(
                {"step_size": 1.0, "mirror_steps": 10, "restart": True, **kernel}
                for kernel in (
                    powr_kernel("Gaussian", [0.1, 0.01]),
                    powr_kernel("Gaussian", [0.3, 0.03]),
                    powr_kernel("Exponential", [0.3, 0.03]),
                    powr_kernel("Exponential", [0.6, 0.06]),
                    powr_kernel("Exponential", [1.2, 0.12]),
                )
            ),
            *product(
                step_size=0.1,
                mirror_steps=30,
                restart=True,
                **powr_kernel("Exponential", [0.6, 0.06]),
            ),
        ],
    },
    "rmax": {
        "FrozenLake-v1": [
            *product(v_max=[1.0, 10.0, 100.0], known_after=1, gamma=[0.95, 0.99]),
            *product(v_max=[1.0, 10.0], known_after=2, gamma=[0.95, 0.99]),
        ],
        "Taxi-v3": product(v_max=[0.0, 5.0, 10.0, 20.0, 2000.0], known_after=1, gamma=[0.95, 0.99]),
        "FrozenLake-slippery-4x4": product(
            v_max=1.0, known_after=[5, 10, 20, 50, 100], gamma=[0.95, 0.99]
        ),
        "FrozenLake-slippery-8x8": product(
            v_max=1.0, known_after=[5, 10, 20, 50, 100], gamma=[0.99, 0.999]
        ),
        "CliffWalking-v1": product(
            v_max=[-10.0, -5.0, 0.0, 10.0, 100.0], known_after=1, gamma=[0.95, 0.99]
        ),
    },
    "dyna_q": {
        "FrozenLake-v1": [
            *product(
                initial_value=[0.0, 1.0],
                planning_steps=[10, 50],
                gamma=[0.95, 0.99],
                learning_rate=1.0,
                epsilon=0.0,
            ),
            *DYNA_Q_OF_THE_TEXTBOOK,
        ],
        "Taxi-v3": [
            *product(initial_value=[0.0, 10.0, 20.0], planning_steps=50, **DYNA_Q_GREEDY),
            *product(initial_value=[0.0, 10.0], planning_steps=100, **DYNA_Q_GREEDY),
            *product(initial_value=10.0, planning_steps=[10, 20], **DYNA_Q_GREEDY),
            *product(
                initial_value=10.0, planning_steps=50, gamma=0.99, learning_rate=1.0, epsilon=0.0
            ),
            *DYNA_Q_OF_THE_TEXTBOOK,
        ],
        "FrozenLake-slippery-4x4": DYNA_Q_ON_ICE,
        "FrozenLake-slippery-8x8": DYNA_Q_ON_ICE,
        "CliffWalking-v1": [
            *product(initial_value=[-5.0, 0.0, 10.0], planning_steps=[10, 50], **DYNA_Q_GREEDY),
            *product(
                initial_value=0.0,
                planning_steps=[10, 50],
                gamma=0.99,
                learning_rate=1.0,
                epsilon=0.0,
            ),
            *DYNA_Q_OF_THE_TEXTBOOK,
        ],
    },
    "optimistic_q": {
        "FrozenLake-v1": [
            *product(initial_value=1.0, learning_rate=[0.5, 1.0], gamma=[0.9, 0.95, 0.99]),
            *product(initial_value=[0.1, 0.5], learning_rate=1.0, gamma=[0.9, 0.95]),
        ],
        "Taxi-v3": product(
            initial_value=[-10.0, -5.0, 0.0, 10.0, 20.0], learning_rate=1.0, gamma=[0.95, 0.99]
        ),
    },
    "psrl": {
        "FrozenLake-v1": [
            *product(
                prior_visits=[0.001, 0.01, 0.1],
                reward_mean=0.0,
                reward_std=[0.03, 0.1, 1.0],
                reward_noise=0.01,
                gamma=0.95,
            ),
            *product(
                prior_visits=0.0001, reward_mean=0.0, reward_std=0.03, reward_noise=0.01, gamma=0.95
            ),
        ],
        "Taxi-v3": [
            *product(
                prior_visits=0.0001,
                reward_mean=0.0,
                reward_std=[0.3, 0.1, 1.0, 3.0],
                reward_noise=0.01,
                gamma=0.95,
            ),
            *product(
                prior_visits=[0.001, 0.01],
                reward_mean=0.0,
                reward_std=[0.1, 0.3, 1.0],
                reward_noise=0.01,
                gamma=0.95,
            ),
        ],
        "FrozenLake-slippery-4x4": PSRL_ON_ICE,
        "FrozenLake-slippery-8x8": PSRL_ON_ICE,
        "CliffWalking-v1": [
            *product(
                prior_visits=[0.0001, 0.001, 0.01],
                reward_mean=0.0,
                reward_std=[0.3, 1.0, 3.0],
                reward_noise=0.01,
                gamma=0.95,
            ),
            *product(
                prior_visits=0.001, reward_mean=0.0, reward_std=1.0, reward_noise=0.01, gamma=0.99
            ),
        ],
    },
    "sarsa_lambda": {
        "MountainCar-v0": [
            *product(step_size=[0.5, 1.0, 0.25], trace_decay=0.9, tiles=8, epsilon=0.0),
            *product(step_size=[0.5, 1.0], trace_decay=[0.8, 0.95], tiles=8, epsilon=0.0),
            *product(step_size=0.5, trace_decay=0.9, tiles=[4, 16], epsilon=0.0),
            *product(step_size=0.5, trace_decay=0.9, tiles=8, epsilon=0.1),
        ],
    },
    "lspi": {
        "MountainCar-v0": [
            *product(centers=[8, 10, 12], regularization=0.01, epsilon=[0.0, 0.1], gamma=0.99),
            *product(centers=10, regularization=[0.001, 0.1], epsilon=0.0, gamma=0.99),
            *product(centers=10, regularization=0.01, epsilon=0.0, gamma=[0.98, 0.995]),
        ],
        "CartPole-v1": [
            {**setting, "growth": 0.2, "bounds": CART_POLE_BOUNDS}
            for setting in (
                *product(
                    centers=[3, 4], regularization=0.01, epsilon=[0.0, 0.1], gamma=[0.95, 0.99]
                ),
                *product(centers=4, regularization=[0.001, 0.1], epsilon=0.1, gamma=0.99),
            )
        ],
        "Acrobot-v1": [
            *product(
                centers=2,
                regularization=[0.001, 0.01, 0.1, 1.0],
                epsilon=[0.0, 0.1],
                gamma=0.99,
                growth=0.2,
            ),
            *product(centers=2, regularization=0.01, epsilon=[0.0, 0.1], gamma=0.98, growth=0.2),
        ],
    },
    "cme_value_iteration": {
        "MountainCar-v0": [
            *product(bandwidth=[0.3, 0.6, 0.9], resolution=[0.01, 0.02], gamma=0.99),
            *product(bandwidth=[0.3, 0.6, 0.9], resolution=0.01, gamma=0.999),
            *product(bandwidth=0.6, resolution=0.01, gamma=0.98),
        ],
        "CartPole-v1": [
            {**setting, **CME_IN_LARGE_BOXES, "bounds": CART_POLE_BOUNDS}
            for setting in (
                *product(bandwidth=[0.3, 0.9, 2.0], resolution=[0.03, 0.06], gamma=0.99),
                *product(bandwidth=[0.9, 2.0], resolution=0.03, gamma=[0.98, 0.999]),
            )
        ],
        "Acrobot-v1": [
            {**setting, **CME_IN_LARGE_BOXES}
            for setting in (
                *product(bandwidth=[0.3, 0.9, 2.0], resolution=[0.03, 0.06], gamma=0.99),
                *product(bandwidth=[0.3, 0.9], resolution=0.06, gamma=[0.95, 0.999]),
            )
        ],
    },
}


class Outcome(NamedTuple):
    """One row of a peer's table; an arrival that did not happen is infinite."""

    environment: str
    setting: str
    seed: int
    first_arrival: float
    lasting_arrival: float
    final_return: float


def try_setting(study: dict[str, Any], peer: str, env: str, setting: Setting, seed: int) -> Outcome:
    """Train, and evaluate the greedy policy on the suite's grid: exactly where that is possible."""
    scope, protocol = study["environments"][env], study["evaluation"]
    seeds = seed_streams(seed)
    evaluator = Evaluator(
        scope, episodes=protocol["episodes"], seed=seeds["evaluation"], sampled_seed=None
    )
    timesteps = SHORTER.get((peer, env), TIMESTEPS[env])
    points = grid(timesteps, protocol["first"], protocol["per_decade"])
    returns: list[float] = []

    def record(agent: Any) -> None:
        if agent.num_timesteps == points[len(returns)]:
            result = evaluator.evaluate(agent, agent.num_timesteps)
            returns.append(result.mean if result.exact_return is None else result.exact_return)

    arguments = own_arguments({"settings": setting})
    agent = baselines.find(peer)(environments.make(scope), seed=seeds["agent"], **arguments)
    agent.learn(timesteps, record)
    threshold = scope["thresholds"][0]
    return Outcome(
        env,
        json.dumps(setting),
        seed,
        whole(time_to_threshold(points, returns, threshold)),
        whole(time_to_lasting(points, returns, threshold)),
        returns[-1],
    )


def read(path: Path) -> list[Outcome]:
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [
        Outcome(env, setting, int(seed), *(whole(float(text)) for text in arrivals), float(final))
        for env, setting, seed, *arrivals, final in rows
    ]


def whole(time: float) -> float:
    """Timesteps as they are written, without a decimal point."""
    return time if math.isinf(time) else int(time)


def write(path: Path, table: list[Outcome]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Outcome._fields, *table])
    write_together({path: text.getvalue()})


def tried(table: list[Outcome], env: str) -> dict[str, list[Outcome]]:
    """The rows of each setting that was tried with every seed."""
    by_setting: dict[str, list[Outcome]] = {}
    for outcome in table:
        if outcome.environment == env:
            by_setting.setdefault(outcome.setting, []).append(outcome)
    return {setting: rows for setting, rows in by_setting.items() if len(rows) == len(SEEDS)}


def choose(table: list[Outcome], env: str) -> tuple[str, list[Outcome]]:
    """The chosen setting and its rows."""

    def merit(rows: list[Outcome]) -> tuple[float, float]:
        lasting = statistics.median(row.lasting_arrival for row in rows)
        return lasting, -statistics.mean(row.final_return for row in rows)

    return min(tried(table, env).items(), key=lambda item: merit(item[1]))


def name_of(peer: str) -> str:
    """The peer's block in envs.yaml; `powr` there has the authors' probable settings."""
    return "powr-tuned" if peer == "powr" else peer.replace("_", "-")


def in_words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['name']}({', '.join(f'{width:g}' for width in value['bandwidth'])})"
    if isinstance(value, list):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


def markdown_row(peer: str, env: str, table: list[Outcome]) -> str:
    """The row of docs/peers.md."""
    setting, rows = choose(table, env)
    constants = ", ".join(
        f"`{name}` {in_words(value)}" for name, value in json.loads(setting).items()
    )
    arrivals = (
        ", ".join("never" if math.isinf(time) else f"{time:,}" for time in times)
        for times in zip(*((row.first_arrival, row.lasting_arrival) for row in rows), strict=True)
    )
    cells = (f"`{name_of(peer)}`", env, str(len(tried(table, env))), constants, *arrivals)
    return f"| {' | '.join(cells)} |"


def tune(study: dict[str, Any], peer: str, path: Path) -> list[Outcome]:
    """The peer's table in the order of SETTINGS, which is written after every run."""
    table = {row[:3]: row for row in read(path)}
    plan = {
        (env, json.dumps(setting), seed): setting
        for env, settings in SETTINGS[peer].items()
        for setting in settings
        for seed in SEEDS
    }
    for (env, text, seed), setting in plan.items():
        if (env, text, seed) not in table:
            table[env, text, seed] = try_setting(study, peer, env, setting, seed)
            write(path, [table[key] for key in plan if key in table])
        print(peer, *table[env, text, seed], flush=True)
    return [table[key] for key in plan]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_peers", description=__doc__)
    parser.add_argument("peers", nargs="*", help=f"some of {', '.join(SETTINGS)}; default: all")
    peers = parser.parse_args(arguments).peers or list(SETTINGS)
    if unknown := set(peers) - set(SETTINGS):
        parser.error(f"unknown: {', '.join(unknown)}; the peers are {', '.join(SETTINGS)}")
    study = config.load("envs.yaml")
    for peer in peers:
        table = tune(study, peer, FOLDER / f"{peer}.csv")
        for env in SETTINGS[peer]:
            print(markdown_row(peer, env, table), flush=True)


if __name__ == "__main__":
    main()
