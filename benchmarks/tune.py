"""Chooses the settings of the classical baselines, and of powr-tuned, on development seeds.

    python -m benchmarks.tune [rmax psrl ...] [--envs extension/study.yaml]

The effort is the same for every algorithm: ten settings per environment (benchmarks/tuning.yaml),
three seeds that no result is reported on, one budget per environment. results/tuning/<name>.csv has
one row per environment, setting and seed; what it already holds is not run again, so delete it
after a change of the algorithm's code. The setting with the smallest median of lasting timesteps to
threshold is chosen; the larger mean final return breaks ties.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from suite import config
from suite.command import write_together
from suite.results.arrivals import time_to_lasting
from suite.results.statistics import time_to_threshold
from suite.training.run import run

FOLDER = Path("results", "tuning")
COLUMNS = ("environment", "setting", "seed", "first_arrival", "lasting_arrival", "final_return")
SEEDS = (1000, 1001, 1002)

Setting = dict[str, Any]


def product(entry: Setting) -> list[Setting]:
    """Every combination of an entry's lists; scalars are repeated."""
    lists = [value if isinstance(value, list) else [value] for value in entry.values()]
    return [dict(zip(entry, chosen, strict=True)) for chosen in itertools.product(*lists)]


PLAN = yaml.safe_load(Path(__file__).with_name("tuning.yaml").read_text(encoding="utf-8"))
SETTINGS: dict[str, dict[str, list[Setting]]] = {
    name: {
        env: [setting for entry in entries for setting in product(entry)]
        for env, entries in by_env.items()
    }
    for name, by_env in PLAN["settings"].items()
}


def try_setting(study: config.Study, name: str, env: str, setting: Setting, seed: int) -> list[Any]:
    """Train, and judge the greedy policy: by its exact return where that is known."""
    settings = {
        "environment": study.environments[env].resolve(),
        "algorithm": {"class": name, "settings": setting},
        "timesteps": (PLAN["timesteps"] | PLAN["shorter"].get(name, {}))[env],
        "evaluation": study.evaluation.model_dump(),
    }
    text, _, _ = run(settings, seed, f"{name} on {env}, seed {seed}")
    table = pd.read_csv(io.StringIO(text))
    returns = table["exact_return"].fillna(table["mean"])
    threshold = study.environments[env].thresholds[0]
    first = time_to_threshold(table["timestep"], returns, threshold)
    lasting = time_to_lasting(table["timestep"], returns, threshold)
    times = (time if math.isinf(time) else int(time) for time in (first, lasting))
    return [*times, returns.iloc[-1]]


def choose(path: Path, env: str) -> str:
    """The chosen setting, as JSON, among those that were tried with every seed."""
    table = pd.read_csv(path)
    settings = table[table["environment"] == env].groupby("setting", sort=False)
    merits = settings.agg(
        seeds=("seed", "size"),
        lasting=("lasting_arrival", "median"),
        final=("final_return", "mean"),
    )
    complete = merits[merits["seeds"] == len(SEEDS)]
    ranked = complete.sort_values(["lasting", "final"], ascending=[True, False], kind="stable")
    return str(ranked.index[0])


def tune(study: config.Study, name: str, path: Path) -> None:
    """Write the algorithm's table in the order of SETTINGS, after every run."""
    table = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            table = {tuple(row[:3]): row for row in csv.reader(file)}
    plan = [
        (env, setting, seed)
        for env, settings in SETTINGS[name].items()
        for setting in settings
        for seed in SEEDS
    ]
    keys = [(env, json.dumps(setting), str(seed)) for env, setting, seed in plan]
    for key, (env, setting, seed) in zip(keys, plan, strict=True):
        if key not in table and env in study.environments:
            table[key] = [*key, *try_setting(study, name, env, setting, seed)]
            text = io.StringIO()
            rows = [table[each] for each in keys if each in table]
            csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
            write_together({path: text.getvalue()})
            print(name, *table[key], flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--envs", default="envs.yaml", help="the study that has the environments")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(SETTINGS):
        parser.error(f"unknown: {', '.join(unknown)}; the algorithms are {', '.join(SETTINGS)}")
    study = config.load(options.envs)
    for name in options.names or SETTINGS:
        path = FOLDER / f"{name}.csv"
        tune(study, name, path)
        for env in SETTINGS[name]:
            print(name, env, choose(path, env), flush=True)


if __name__ == "__main__":
    main()
