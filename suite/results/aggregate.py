"""From run files to tables: runs.csv, curves.csv, summary.csv and summary.md.

Reads exactly the run files that envs.yaml names for a scale. All seeds are evaluated at the same
timesteps, so nothing is interpolated, cut or filled in.

    python -m suite aggregate --scale quick
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import baselines
from powr.tabular import TabularMDP
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config import Run
from suite.config.kinds import kind_of
from suite.results import arrivals
from suite.results.run_file import read_run_file
from suite.results.summary import Bounds, Planned, summarise
from suite.results.summary_page import render
from suite.results.tables import other_runs, read_table
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
        table, metadata[run] = read_run_file(results, run, settings)
        tables.append(table)
    return Loaded(pd.concat(tables, ignore_index=True), metadata, missing)


def read_arrivals(folder: Path, loaded: Loaded) -> pd.DataFrame:
    """runs.csv of a scale, which must hold the runs that are there."""
    path = folder / "runs.csv"
    table = read_table(path).astype({arrivals.FIRST: "Int64", arrivals.LASTING: "Int64"})
    held = set(zip(table["environment"], table["algorithm"], table["seed"], strict=True))
    there = {(run.environment, run.algorithm, run.seed) for run in loaded.metadata}
    if held != there:
        raise other_runs(path, f"holds {len(held)} runs, {len(there)} are there")
    return table


def curves(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of each policy's return at each timestep."""
    parts = [
        evaluations.dropna(subset=column)
        .groupby([*GROUP, "timestep"], sort=False)[column]
        .agg(["mean", "min", "max", "count"])
        .rename(columns={"count": "seeds"})
        .reset_index()
        .assign(policy=policy)
        for policy, (column, _) in arrivals.POLICIES.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[[*GROUP, "policy", "timestep", "mean", "min", "max", "seeds"]]


def plan(study: Mapping[str, Any], scale: str) -> list[Planned]:
    """What envs.yaml plans, in its order."""
    planned = []
    for run in config.runs(study, scale):
        if run.seed == 0:
            settings = config.resolve(study, scale, run.environment, run.algorithm)
            algorithm = study["algorithms"][run.algorithm]
            planned.append(
                Planned(
                    run.environment,
                    run.algorithm,
                    study["scales"][scale]["seeds"],
                    planned_grid(settings),
                    first_update(settings["algorithm"]),
                    kind_of(algorithm),
                    algorithm["source"]["kind"],
                )
            )
    return planned


def first_update(algorithm: Mapping[str, Any]) -> int:
    """Timesteps that an algorithm collects before it first changes its policy.

    Deep baselines fill a buffer, or collect a rollout from each of their environments.
    """
    signature = baselines.settings_of(baselines.find(algorithm["class"]))
    defaults = {name: parameter.default for name, parameter in signature.items()}
    settings = {**defaults, **algorithm["settings"]}
    if "learning_starts" in settings:
        return settings["learning_starts"]
    return settings.get("n_steps", 0) * settings.get("n_envs", 1)


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
    blocks = {each.environment: study["environments"][each.environment] for each in planned}
    thresholds_of = {name: block["thresholds"] for name, block in blocks.items()}
    bounds_of = {name: exact_bounds(block) for name, block in blocks.items()}
    runs = arrivals.tabulate(loaded.evaluations, thresholds_of)
    summary = summarise(loaded.evaluations, runs, planned, thresholds_of, bounds_of)
    provenances = [metadata["provenance"] for metadata in loaded.metadata.values()]
    return {
        "runs.csv": to_csv(runs),
        "curves.csv": to_csv(curves(loaded.evaluations)),
        "summary.csv": to_csv(summary),
        "summary.md": render(summary, scale, loaded.missing, provenances),
    }


def to_csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def write_table(
    verb: str,
    description: str | None,
    tabulate: Callable[[Mapping[str, Any], str, Path], pd.DataFrame],
    arguments: Sequence[str] | None,
) -> int:
    """The whole of a verb that makes one table of a scale: VERB.csv."""
    parser = make_parser(verb, description, "--scale", "--envs", "--results", "--out-dir")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        table = tabulate(config.load(options.envs), options.scale, options.results)
        return {(options.out_dir or options.results / options.scale) / f"{verb}.csv": to_csv(table)}

    return write_result(parser.prog, make)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser(
        "aggregate", __doc__, "--scale", "--partial", "--envs", "--results", "--out-dir"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        files = aggregate(study, options.scale, options.results, options.partial)
        folder = options.out_dir or options.results / options.scale
        return {folder / name: text for name, text in files.items()}

    return write_result(parser.prog, make)
