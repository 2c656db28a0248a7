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

import pandas as pd

import baselines
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.config import Combination, Run, Study
from suite.results import arrivals
from suite.results.ranking import cost, measured_by, rank, training_seconds
from suite.results.run_file import Provenance, Record, read_run_file
from suite.results.summary import find_origins, render, summarise
from suite.results.tables import to_csv

PAIR = ["environment", "algorithm"]


def aggregate(study: Study, scale: str, results: Path, partial: bool) -> dict[str, str]:
    """The text of each output file."""
    combinations = study.combinations(scale)
    runs = read_runs(study, scale, results, partial)
    thresholds = {name: block.thresholds for name, block in study.environments.items()}
    reached = arrivals.tabulate(runs.evaluations, thresholds)
    tables = {
        "evaluations": runs.evaluations.drop(columns="training_seconds"),
        "runs": reached,
        "training": runs.training,
    }
    page = {}
    if scale in study.scales:
        summary = summarise(study, combinations, runs.evaluations, reached)
        tables |= {
            "curves": curves(runs.evaluations),
            "summary": summary,
            "ranking": rank(combinations, summary, reached, runs.training, runs.evaluations),
            "cost": cost(combinations, runs.training),
            "origins": find_origins(runs.origins),
        }
        page = {"summary.md": render(summary, scale, runs.missing, tables["origins"])}
    return {f"{name}.csv": to_csv(table) for name, table in tables.items()} | page


class FinishedRuns(NamedTuple):
    """Finished runs of a scale."""

    # The rows of all run files, with environment, algorithm, combination if settings vary, seed,
    # and the seconds of training until each evaluation.
    evaluations: pd.DataFrame
    training: pd.DataFrame  # one row per run
    origins: list[Provenance]
    missing: list[Run]


def read_runs(study: Study, scale: str, results: Path, partial: bool) -> FinishedRuns:
    """Read and check every run file of a scale; a missing one is an error unless partial."""
    planned = [(each, run) for each in study.combinations(scale) for run in each.runs]
    missing = [run for _, run in planned if not (results / run.path).exists()]
    if missing and (not partial or len(missing) == len(planned)):
        names = "\n".join(f"  {results / run.path}" for run in missing)
        raise SuiteError(
            f"{len(missing)} of {len(planned)} runs are missing:\n{names}\n"
            f"Run `snakemake --config scale={scale}`, or aggregate finished runs with --partial"
        )
    tables, training, origins = {}, [], []
    for each, run in planned:
        if run in missing:
            continue
        table, document = read_run_file(results, run, each.settings)
        table["training_seconds"] = seconds = training_seconds(document.evaluations)
        tables[run.environment, run.algorithm, run.digest, run.seed] = table
        training.append(training_row(each, run, document, max(seconds)))
        origins.append(document.provenance)
    key = [*PAIR, "combination", "seed"]
    evaluations = pd.concat(tables, names=key).reset_index(key).reset_index(drop=True)
    if scale in study.scales:  # in the others settings vary
        evaluations = evaluations.drop(columns="combination")
    missing.sort(key=lambda run: run.seed)
    return FinishedRuns(evaluations, pd.DataFrame(training), origins, missing)


def training_row(
    combination: Combination, run: Run, document: Record, seconds: float
) -> dict[str, Any]:
    """What a run took; `seconds` and `cpu_seconds` include evaluations."""
    first, last = document.evaluations[0], document.evaluations[-1]
    start_of_python = first.cpu_seconds - first.evaluation_cpu_seconds
    return {
        "environment": run.environment,
        "algorithm": run.algorithm,
        "seed": run.seed,
        "digest": run.digest,
        "timesteps": last.timestep,
        "first_update": first_update(combination.settings["algorithm"]),
        "seconds": document.duration_seconds,
        "evaluation_seconds": sum(entry.evaluation_seconds for entry in document.evaluations),
        "cpu_seconds": last.cpu_seconds - start_of_python,
        "training_seconds": seconds,
        "measured_by": measured_by(document.evaluations),
        "peak_memory_bytes": document.peak_memory_bytes,
        "has_agent": document.agent_sha256 is not None,
        "commit": document.provenance.git.commit if document.provenance.git else "",
    }


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


def curves(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of each policy's return at each timestep."""
    parts = [
        evaluations.dropna(subset=column)
        .groupby([*PAIR, "timestep"], sort=False)[column]
        .agg(["mean", "min", "max", "count"])
        .rename(columns={"count": "seeds"})
        .reset_index()
        .assign(policy=policy)
        for policy, (column, _) in arrivals.POLICIES.items()
    ]
    shown = [*PAIR, "policy", "timestep", "mean", "min", "max", "seeds"]
    return pd.concat(parts, ignore_index=True)[shown]


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
