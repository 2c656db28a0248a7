"""Chooses the constants of the textbook peers, and of powr-tuned, on development seeds.

    python -m benchmarks.tune_peers                  every peer
    python -m benchmarks.tune_peers rmax psrl        some of them

The effort is the same for every peer: ten settings per environment (benchmarks/tuning.yaml), three
seeds that no result is reported on, one budget per environment. results/tuning/<peer>.csv has one
row per environment, setting and seed; what it already holds is not run again, so delete it after a
change of the peer's code. The setting with the smallest median lasting arrival is chosen; the
larger mean final return breaks ties.
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

import yaml

import baselines
from suite import config
from suite.command import write_together
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


def product(entry: Setting) -> list[Setting]:
    """Every combination of an entry's lists; a value that is no list stands in all of them."""
    lists = [value if isinstance(value, list) else [value] for value in entry.values()]
    return [dict(zip(entry, chosen, strict=True)) for chosen in itertools.product(*lists)]


def read_settings(path: Path) -> dict[str, dict[str, list[Setting]]]:
    """The settings to try, by peer and environment, in the order of the file."""
    peers = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        peer: {
            env: [setting for entry in entries for setting in product(entry)]
            for env, entries in by_env.items()
        }
        for peer, by_env in peers.items()
    }


SETTINGS = read_settings(Path(__file__).with_name("tuning.yaml"))


class Outcome(NamedTuple):
    """One row of a peer's table; an arrival that did not happen is infinite."""

    environment: str
    setting: str
    seed: int
    first_arrival: float
    lasting_arrival: float
    final_return: float


def try_setting(study: config.Study, peer: str, env: str, setting: Setting, seed: int) -> Outcome:
    """Train, and evaluate the greedy policy on the suite's grid: exactly where that is possible."""
    scope, protocol = study.environments[env].resolve(), study.evaluation
    seeds = seed_streams(seed)
    evaluator = Evaluator(
        scope, episodes=protocol.episodes, seed=seeds["evaluation"], sampled_seed=None
    )
    timesteps = SHORTER.get((peer, env), TIMESTEPS[env])
    points = grid(timesteps, protocol.first, protocol.per_decade)
    returns: list[float] = []

    def record(agent: Any) -> None:
        if agent.num_timesteps == points[len(returns)]:
            result = evaluator.evaluate(agent, agent.num_timesteps)
            returns.append(result.mean if result.exact_return is None else result.exact_return)

    arguments = own_arguments({"settings": setting})
    agent = baselines.find(peer)(environments.make(scope), seed=seeds["agent"], **arguments)
    agent.learn(timesteps, record)
    threshold = study.environments[env].thresholds[0]
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


def tune(study: config.Study, peer: str, path: Path) -> list[Outcome]:
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
            print(env, choose(table, env)[0], flush=True)


if __name__ == "__main__":
    main()
