"""From run files to tables, the one place that reads them.

Reads exactly the run files that the study names for a scale. All seeds are evaluated at the same
timesteps, so nothing is interpolated, cut or filled in. Writes to the scale's folder:

- evaluations.csv: every evaluation of every run, with the columns of a run file;
- runs.csv: when each run first reaches each threshold;
- training.csv: what each run took: budget, first update, times in seconds, memory, commit;
- curves.csv, summary.csv, ranking.csv, cost.csv, origins.csv, summary.md: what seeds say together.

Of the multiverse and the ablations, whose runs vary settings, the first three only.

    python -m suite aggregate --scale quick
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import baselines
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config import Combination, Run, Study
from suite.config.models import Environment
from suite.results import arrivals
from suite.results.origins import find_origins
from suite.results.ranking import cost, rank, read_training
from suite.results.run_file import read_run_file
from suite.results.summary import Bounds, Planned, summarise
from suite.results.summary_page import render
from suite.results.tables import to_csv
from suite.training import environments
from suite.training.evaluation import planned_grid


class Loaded(NamedTuple):
    """Finished runs of a scale."""

    evaluations: pd.DataFrame  # the rows of all run files, with environment, algorithm and seed
    metadata: dict[Run, dict[str, Any]]
    missing: list[Run]


def load_runs(
    combinations: Sequence[Combination], results: Path, scale: str, partial: bool
) -> Loaded:
    """Read and check every run file of a scale; a missing one is an error unless partial."""
    is_varied = scale in (config.ABLATIONS, config.MULTIVERSE)
    runs = [run for each in combinations for run in each.runs]
    missing = [run for run in runs if not (results / run.path).exists()]
    if missing and (not partial or len(missing) == len(runs)):
        names = "\n".join(f"  {results / run.path}" for run in missing)
        raise SuiteError(
            f"{len(missing)} of {len(runs)} runs are missing:\n{names}\n"
            f"Run `snakemake --config scale={scale}`, or aggregate finished runs with --partial"
        )
    tables, metadata = [], {}
    for each in combinations:
        for run in each.runs:
            if (results / run.path).exists():
                table, metadata[run] = read_run_file(results, run, each.settings)
                key: dict[str, Any] = {"environment": run.environment, "algorithm": run.algorithm}
                if is_varied:
                    key["combination"] = run.digest
                for place, (name, value) in enumerate((key | {"seed": run.seed}).items()):
                    table.insert(place, name, value)
                tables.append(table)
    return Loaded(
        pd.concat(tables, ignore_index=True), metadata, sorted(missing, key=lambda run: run.seed)
    )


def curves(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of each policy's return at each timestep."""
    group = ["environment", "algorithm"]
    parts = [
        evaluations.dropna(subset=column)
        .groupby([*group, "timestep"], sort=False)[column]
        .agg(["mean", "min", "max", "count"])
        .rename(columns={"count": "seeds"})
        .reset_index()
        .assign(policy=policy)
        for policy, (column, _) in arrivals.POLICIES.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[[*group, "policy", "timestep", "mean", "min", "max", "seeds"]]


def plan(study: Study, scale: str) -> list[Planned]:
    """What the study plans, in its order."""
    return [
        Planned(
            each.environment,
            each.algorithm,
            each.seeds,
            planned_grid(each.settings),
            study.algorithms[each.algorithm].kind,
            study.algorithms[each.algorithm].source.kind,
        )
        for each in study.scale(scale).combinations()
    ]


def tabulate_training(
    combinations: Sequence[Combination], metadata: Mapping[Run, Mapping[str, Any]]
) -> pd.DataFrame:
    """What each run took, one row each; `seconds` and `cpu_seconds` include evaluations."""
    rows = []
    for each in combinations:
        for run in each.runs:
            if run not in metadata:
                continue
            document = metadata[run]
            training, spent = read_training(document), document["evaluations"]
            git = document["provenance"]["git"] or {}
            rows.append(
                {
                    "environment": run.environment,
                    "algorithm": run.algorithm,
                    "seed": run.seed,
                    "digest": run.digest,
                    "timesteps": spent[-1]["timestep"],
                    "first_update": first_update(each.settings["algorithm"]),
                    "seconds": document["duration_seconds"],
                    "evaluation_seconds": sum(entry["evaluation_seconds"] for entry in spent),
                    "cpu_seconds": cpu_seconds(spent),
                    "training_seconds": max(training.seconds.values()),
                    "measured_by": training.measured_by,
                    "peak_memory_bytes": document["peak_memory_bytes"],
                    "has_agent": "agent_sha256" in document,
                    "commit": git.get("commit", ""),
                }
            )
    return pd.DataFrame(rows)


def cpu_seconds(evaluations: Sequence[Mapping[str, float]]) -> float:
    """CPU time from before the first evaluation to after the last, without the start of Python."""
    if "cpu_seconds" not in evaluations[0]:
        return float("nan")
    before = evaluations[0]["cpu_seconds"] - evaluations[0]["evaluation_cpu_seconds"]
    return evaluations[-1]["cpu_seconds"] - before


def first_update(algorithm: Mapping[str, Any]) -> int:
    """Timesteps that an algorithm collects before it first changes its policy.

    Deep baselines fill a buffer, or collect a rollout from each of their environments.
    """
    if algorithm["class"] not in baselines.DEEP:
        return 0
    signature = baselines.settings_of(baselines.find(algorithm["class"]))
    defaults = {name: parameter.default for name, parameter in signature.items()}
    settings = {**defaults, **algorithm["settings"]}
    if "learning_starts" in settings:
        return settings["learning_starts"]
    return settings.get("n_steps", 0) * settings.get("n_envs", 1)


def exact_bounds(environment: Environment, seeds: int) -> Bounds:
    """Exact returns of the uniform policy and the optimum, where there is a transition table.

    With fixed starts, which differ between seeds, their mean over seeds.
    """
    settings = environment.resolve()
    found = []
    for seed in range(seeds) if environment.start == "fixed" else [0]:
        mdp = environments.tabular(environments.make(settings, seed))
        if mdp is None:
            return Bounds()
        uniform = np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
        found.append((mdp.expected_return(uniform), mdp.optimal_return()))
    return Bounds(*(float(np.mean(each)) for each in zip(*found, strict=True)))


def aggregate(study: Study, scale: str, results: Path, partial: bool) -> dict[str, str]:
    """The text of each output file."""
    combinations = study.combinations(scale)
    loaded = load_runs(combinations, results, scale, partial)
    thresholds_of = {
        each.environment: study.environments[each.environment].thresholds for each in combinations
    }
    runs = arrivals.tabulate(loaded.evaluations, thresholds_of)
    tables = {
        "evaluations.csv": loaded.evaluations,
        "runs.csv": runs,
        "training.csv": tabulate_training(combinations, loaded.metadata),
    }
    if scale in (config.ABLATIONS, config.MULTIVERSE):
        return {name: to_csv(table) for name, table in tables.items()}
    planned = plan(study, scale)
    seeds = study.scale(scale).seeds
    bounds_of = {name: exact_bounds(study.environments[name], seeds) for name in thresholds_of}
    summary = summarise(loaded.evaluations, runs, planned, thresholds_of, bounds_of)
    origins = find_origins(document["provenance"] for document in loaded.metadata.values())
    tables |= {
        "curves.csv": curves(loaded.evaluations),
        "summary.csv": summary,
        "ranking.csv": rank(planned, thresholds_of, runs, loaded.metadata),
        "cost.csv": cost(planned, loaded.metadata),
        "origins.csv": origins,
    }
    page = render(summary, scale, loaded.missing, origins)
    return {**{name: to_csv(table) for name, table in tables.items()}, "summary.md": page}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser(
        "aggregate", __doc__, "--scale", "--partial", "--envs", "--results", "--out-dir"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        results = options.results or study.results
        files = aggregate(study, options.scale, results, options.partial)
        folder = options.out_dir or results / options.scale
        return {folder / name: text for name, text in files.items()}

    return write_result(parser.prog, make)
