"""POWR, OptimisticPOWR and the algorithms that fit an environment, trained side by side on it.

    python -m suite compare --env CartPole-v1 --timesteps 5000

Trains a few seeds of each in parallel and ends with a table and a picture. Settings are those of
envs.yaml, which is left unchanged: the study of the comparison is written beside its results.
Finished runs are kept and never trained again, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from powr.files import write_together
from powr.shell import BAD_INPUT, add_env_kwargs, count
from suite import SuiteError, config
from suite.command import Stopped, fail, handle, handlers_restored, make_parser, stop
from suite.compare.study import SCALE, Choice, make_study
from suite.compare.training import train
from suite.config import Run
from suite.names import algorithm_name
from suite.plots import comparison
from suite.plots.render import deterministic, files, read_tables
from suite.results.aggregate import aggregate, load_runs

PROGRAM = "python -m suite compare"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = make_parser("compare", __doc__, "--envs")
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(add)
    add("--timesteps", required=True, type=count, metavar="N", help="environment steps per run")
    add("--seeds", type=count, default=3, metavar="N", help=f"seeds per algorithm {default}")
    about = "algorithms of envs.yaml (default: powr, optimistic-powr and all baselines that fit, "
    about += "but for those under the authors' probable settings)"
    add("--algorithms", nargs="+", metavar="NAME", help=about)
    about = "return at which the task counts as learned (default: the registered one)"
    add("--threshold", type=float, metavar="X", help=about)
    about = f"runs at a time, one core each {default}"
    add("--cores", type=count, default=os.cpu_count() or 1, metavar="N", help=about)
    add("--out", type=Path, metavar="FOLDER", help="default: results/compare/ENVIRONMENT")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        study, choice = make_study(config.load(options.envs), options)
        (environment,) = study["environments"]
        folder = options.out or Path("results", "compare", environment)
        if folder.exists() and not folder.is_dir():
            raise SuiteError(f"--out {folder}: is a file, give a folder")
        # The runs read the study of the comparison, not envs.yaml.
        study_file = folder / "study.yaml"
        write_together({study_file: yaml.safe_dump(study, sort_keys=False, allow_unicode=True)})
        config.load(study_file)
    except SuiteError as error:
        return fail(PROGRAM, error, BAD_INPUT)
    except OSError as error:
        return fail(PROGRAM, f"nothing was written: {error}", BAD_INPUT)
    runs = config.runs(study, SCALE)
    print(
        f"{environment}, {options.timesteps:,} timesteps, {len(runs)} runs, {options.cores} at a "
        f"time: {names_of(choice.chosen)}"
    )
    announce(choice)
    print(f"everything goes to {folder}", flush=True)
    with handlers_restored():
        handle(stop)
        try:
            failed = train(study_file, runs, folder, options.cores)
        except Stopped as stopped:
            handle(signal.SIG_IGN)
            return conclude(study, folder, stopped_by=stopped.args[0])
    return conclude(study, folder, failed)


def announce(choice: Choice) -> None:
    """What a reader of the results should know about the choice of algorithms."""
    for lender in dict.fromkeys(choice.borrowed.values()):
        own = [name for name in choice.borrowed if choice.borrowed[name] == lender]
        print(f"settings that were chosen on {lender}, not here: {names_of(own)}")
    if choice.left_out:
        print(
            f"left out (--algorithms NAME says why one does not fit): {names_of(choice.left_out)}"
        )
    if choice.untrained:
        first = ", ".join(f"{algorithm_name(name)}: {n:,}" for name, n in choice.untrained.items())
        print(f"warning: too few timesteps for a first update, which comes after ({first})")


def names_of(algorithms: Iterable[str]) -> str:
    return ", ".join(map(algorithm_name, algorithms))


def conclude(
    study: dict[str, Any], folder: Path, failed: Sequence[Run] = (), stopped_by: int | None = None
) -> int:
    """Show the finished runs, and say what failed or was stopped; the exit code."""
    runs = config.runs(study, SCALE)
    finished = [run for run in runs if (folder / run.path).exists()]
    if finished:
        print(f"\n{write_outcome(study, folder)}\n")
        ((_, block),) = study["environments"].items()
        threshold = block["thresholds"][0]
        print(f"met: seeds with a mean return of {threshold:g}; at timestep: the median of seeds")
        print(f"picture: {folder / 'comparison.png'}")
        print(f"tables:  {folder / SCALE / 'summary.md'}")
    if stopped_by:
        name = signal.Signals(stopped_by).name
        message = (
            f"stopped by {name}: {len(finished)} of {len(runs)} runs are finished and kept in "
            f"{folder}; the same command trains the others"
        )
        return fail(PROGRAM, message, 128 + stopped_by)
    if failed:
        logs = ", ".join(str((folder / run.path).with_suffix(".log")) for run in failed)
        return fail(PROGRAM, f"{len(failed)} of {len(runs)} runs failed, see {logs}")
    return 0


def write_outcome(study: dict[str, Any], folder: Path) -> str:
    """Write tables and picture of the finished runs; the table for the terminal.

    It has one row per algorithm, the quickest to the threshold first.
    """
    place = folder / SCALE
    tables = aggregate(study, SCALE, folder, partial=True)
    write_together({place / name: text for name, text in tables.items()})
    shown = deterministic(read_tables(place))
    write_together(files(comparison.draw, shown, folder / "comparison", ("png", "pdf")))
    metadata = load_runs(study, SCALE, folder, partial=True).metadata
    seconds = pd.Series([each["duration_seconds"] for each in metadata.values()])
    seconds = seconds.groupby([run.algorithm for run in metadata]).mean()
    rows = pd.read_csv(place / "summary.csv")
    rows = rows[rows["policy"] == "deterministic"].drop_duplicates("algorithm")
    rows = rows.set_index("algorithm").sort_values(
        ["timesteps_to_threshold", "final_mean"], ascending=[True, False]
    )
    table = {
        algorithm_name(name): {
            "met": f"{row['n_reached']:.0f} of {row['seeds']:.0f}",
            "at timestep": f"> {row['timesteps']:,.0f}"
            if pd.isna(row["timesteps_to_threshold"])
            else f"{row['timesteps_to_threshold']:,.0f}",
            "final return": f"{row['final_mean']:.2f}",
            "(min to max)": f"({row['final_min']:g} to {row['final_max']:g})",
            "seconds": f"{seconds[name]:.1f}",
        }
        for name, row in rows.iterrows()
    }
    return (
        pd.DataFrame.from_dict(table, orient="index").rename_axis(columns="algorithm").to_string()
    )
