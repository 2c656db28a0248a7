"""From the run files of all ablations to ablations.csv: one row per environment and ablation.

The return is exact where the environment has a transition table, else the mean of the episodes
played: luck with the starts would blur what an ablation does.

    python -m suite ablations
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.results import arrivals
from suite.results.aggregate import to_csv
from suite.results.cost import cpu_seconds
from suite.results.run_file import read_run_file
from suite.results.statistics import censored_median
from suite.training.evaluation import planned_grid

COLUMNS = [
    "environment",
    "ablation",
    "change",
    "threshold",
    "timesteps",
    "seeds",
    "seeds_planned",
    "n_reached",
    "first_arrivals",
    "median_first_arrival",
    "median_lasting_arrival",
    "late_return",
    "cpu_seconds",
]
WHOLE = ["median_first_arrival", "median_lasting_arrival", "late_return", "cpu_seconds"]


def tabulate(study: Mapping[str, Any], results: Path) -> pd.DataFrame:
    """What the runs that are there say; `seeds` of `seeds_planned` are there."""
    rows = [
        row(study, name, variant, results)
        for name in study["ablations"]
        for variant in variants(study, name)
    ]
    environments = list(study["environments"])
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(WHOLE, float))
    return table.sort_values(
        "environment", key=lambda names: names.map(environments.index), kind="stable"
    ).reset_index(drop=True)


def variants(study: Mapping[str, Any], name: str) -> list[config.Variant]:
    """The variants of an ablation; a row shows one, so it is an error to have two of a kind."""
    found = config.variants(study, name)
    environments = [variant.environment for variant in found]
    for environment in environments:
        if environments.count(environment) > 1:
            raise SuiteError(
                f"ablations.{name}: has {environments.count(environment)} variants on "
                f"{environment}: give each setting one value, and each variant its own ablation"
            )
    return found


def row(
    study: Mapping[str, Any], name: str, variant: config.Variant, results: Path
) -> dict[str, Any]:
    """One ablation on one environment, over the seeds that are there."""
    scope, settings = study["ablations"][name], variant.resolved
    threshold = study["environments"][variant.environment]["thresholds"][0]
    facts = {
        "environment": variant.environment,
        "ablation": name,
        "change": scope.get("change", name),
        "threshold": threshold,
        "timesteps": settings["timesteps"],
        "seeds_planned": scope["seeds"],
    }
    runs = [run for _, run in config.variant_runs(study, name) if is_of(run, variant)]
    there = [run for run in runs if (results / run.path).exists()]
    if not there:
        return {**facts, "seeds": 0, "n_reached": 0}
    grid, episodes = planned_grid(settings), settings["evaluation"]["episodes"]
    loaded = {run: read_run_file(results, run, grid, episodes) for run in there}
    evaluations = pd.concat(
        table.assign(environment=run.environment, algorithm=run.algorithm, seed=run.seed)
        for run, (table, _) in loaded.items()
    )
    seconds = [cpu_seconds(results / run.path, metadata) for run, (_, metadata) in loaded.items()]
    return {
        **facts,
        **outcome(arrivals.judged_exactly(evaluations), threshold),
        "cpu_seconds": round(censored_median(seconds), 1),
    }


def is_of(run: config.Run, variant: config.Variant) -> bool:
    named = (variant.environment, variant.algorithm, config.digest(variant.resolved))
    return (run.environment, run.algorithm, run.digest) == named


def outcome(evaluations: pd.DataFrame, threshold: float) -> dict[str, Any]:
    """When the runs of one variant arrived, and their mean return in the second half."""
    (environment,) = evaluations["environment"].unique()
    table = arrivals.tabulate(evaluations, {environment: [threshold]})
    runs = table[table["policy"] == "deterministic"]
    first = runs[arrivals.FIRST].dropna().sort_values()
    return {
        "seeds": len(runs),
        "n_reached": len(first),
        "first_arrivals": " ".join(map(str, first)),
        "median_first_arrival": median_arrival(runs[arrivals.FIRST]),
        "median_lasting_arrival": median_arrival(runs[arrivals.LASTING]),
        "late_return": arrivals.second_half(evaluations)["mean"].mean(),
    }


def median_arrival(column: pd.Series) -> float:
    """Empty in the table, if half of the runs never arrive."""
    return arrivals.as_cell(censored_median(arrivals.as_times(column)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("ablations", __doc__, "--envs", "--results", "--partial")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        table = tabulate(config.load(options.envs), options.results)
        there, planned = table["seeds"].sum(), table["seeds_planned"].sum()
        if there < planned:
            fault = f"{planned - there} of {planned} runs of the ablations are missing"
            if not options.partial or there == 0:
                raise SuiteError(f"{fault}: run `make ablations`, or give --partial")
            print(f"{parser.prog}: {fault}", file=sys.stderr)
        return {options.results / config.ABLATIONS / "ablations.csv": to_csv(table)}

    return write_result(parser.prog, make)
