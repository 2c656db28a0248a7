"""From run files to tables: curves.csv, thresholds.csv, summary.csv and summary.md.

Reads exactly the run files that envs.yaml names for a scale. All seeds are evaluated at the same
timesteps, so they are averaged as they are: nothing is interpolated, cut or filled in.

    python -m suite.results.aggregate --scale quick
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from powr.tabular import TabularMDP
from suite import SuiteError, config
from suite.command import write_result
from suite.config import Run
from suite.results.run_file import read_run_file
from suite.results.statistics import time_to_threshold
from suite.results.summary import Bounds, Planned, summarise
from suite.results.summary_page import find_origins, render
from suite.training import environments
from suite.training.evaluation import planned_grid

GROUP = ["environment", "algorithm"]


class Loaded(NamedTuple):
    """The runs of a scale that are there."""

    evaluations: pd.DataFrame  # the rows of all run files, with environment, algorithm and seed
    metadata: dict[Run, dict[str, Any]]
    missing: list[Run]


def load_runs(study: Mapping[str, Any], scale: str, results: Path, partial: bool) -> Loaded:
    """Read and check every run file of a scale; a missing one is an error unless partial."""
    runs = config.runs(study, scale)
    missing = [run for run in runs if not (results / run.path).exists()]
    if missing and (not partial or len(missing) == len(runs)):
        names = "\n".join(f"  {results / run.path}" for run in missing)
        raise SuiteError(
            f"{len(missing)} of {len(runs)} runs are missing:\n{names}\n"
            f"Run `snakemake --config scale={scale}`, or aggregate those there are with --partial"
        )
    pairs = list(dict.fromkeys((run.environment, run.algorithm) for run in runs))
    there = [run for run in runs if run not in missing]
    tables, metadata = [], {}
    for run in sorted(there, key=lambda run: pairs.index((run.environment, run.algorithm))):
        settings = config.resolve(study, scale, run.environment, run.algorithm)
        table, metadata[run] = read_run_file(
            results, run, planned_grid(settings), settings["evaluation"]["episodes"]
        )
        tables.append(
            table.assign(environment=run.environment, algorithm=run.algorithm, seed=run.seed)
        )
    return Loaded(pd.concat(tables, ignore_index=True), metadata, missing)


def curves(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of the mean return at each timestep."""
    return (
        evaluations.groupby([*GROUP, "timestep"], sort=False)["mean"]
        .agg(["mean", "min", "max", "count"])
        .rename(columns={"count": "seeds"})
        .reset_index()
    )


def thresholds(
    evaluations: pd.DataFrame, thresholds_of: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """The first evaluation of each run at or above each threshold; empty where there is none."""
    rows = [
        (
            environment,
            algorithm,
            seed,
            threshold,
            time_to_threshold(run["timestep"], run["mean"], threshold),
        )
        for (environment, algorithm), group in evaluations.groupby(GROUP, sort=False)
        for threshold in thresholds_of[environment]
        for seed, run in group.groupby("seed")
    ]
    table = pd.DataFrame(rows, columns=[*GROUP, "seed", "threshold", "timestep"])
    reached = table["timestep"].replace(float("inf"), pd.NA)
    return table.assign(timestep=reached.astype("Int64"))


def plan(study: Mapping[str, Any], scale: str) -> list[Planned]:
    """What envs.yaml plans, in its order."""
    seeds = study["scales"][scale]["seeds"]
    return [
        Planned(
            run.environment,
            run.algorithm,
            seeds,
            planned_grid(config.resolve(study, scale, run.environment, run.algorithm)),
        )
        for run in config.runs(study, scale)
        if run.seed == 0
    ]


def exact_bounds(settings: Mapping[str, Any]) -> Bounds:
    """Exact returns of the uniform policy and the optimum, where there is a transition table."""
    env = environments.make(settings)
    if not environments.has_transition_table(env):
        return Bounds()
    mdp = TabularMDP.from_env(env)
    uniform = np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
    return Bounds(mdp.expected_return(uniform), mdp.optimal_return())


def aggregate(study: Mapping[str, Any], scale: str, results: Path, partial: bool) -> dict[str, str]:
    """The text of each output file."""
    loaded = load_runs(study, scale, results, partial)
    planned = plan(study, scale)
    names = dict.fromkeys(pair.environment for pair in planned)
    thresholds_of = {name: study["environments"][name]["thresholds"] for name in names}
    bounds_of = {name: exact_bounds(study["environments"][name]) for name in names}
    summary = summarise(loaded.evaluations, planned, thresholds_of, bounds_of)
    page = render(
        summary,
        scale,
        [str(run.path) for run in loaded.missing],
        find_origins(metadata["provenance"] for metadata in loaded.metadata.values()),
    )
    return {
        "curves.csv": to_csv(curves(loaded.evaluations)),
        "thresholds.csv": to_csv(thresholds(loaded.evaluations, thresholds_of)),
        "summary.csv": to_csv(summary),
        "summary.md": page,
    }


def to_csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="suite.results.aggregate", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--scale", required=True, help="a scale of the study")
    parser.add_argument("--partial", action="store_true", help="count missing runs, do not stop")
    parser.add_argument("--envs", default="envs.yaml", help="the study (default: %(default)s)")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the run files"
    )
    parser.add_argument("--out-dir", type=Path, help="default: the scale's folder in the results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        files = aggregate(study, options.scale, options.results, options.partial)
        folder = options.out_dir or options.results / options.scale
        return {folder / name: text for name, text in files.items()}

    return write_result(parser.prog, make)


if __name__ == "__main__":
    sys.exit(main())
