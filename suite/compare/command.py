"""POWR, OptimisticPOWR and the algorithms that fit an environment, trained side by side on it.

    python -m suite compare --env CartPole-v1 --timesteps 5000

Trains a few seeds of each in parallel and ends with a table and a picture. Settings are those of
envs.yaml, which is left as it is: the study of the comparison is written beside its results. Runs
that are finished are kept and never trained again, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from powr.command.options import add_env_kwargs, count
from powr.command.shell import BAD_INPUT
from powr.files import write_together
from suite import SuiteError, config
from suite.command import Stopped, fail, handle, handlers_restored, make_parser, stop
from suite.compare.outcome import UNTRAINED, write_outcome
from suite.compare.study import SCALE, Choice, make_study
from suite.compare.training import train
from suite.config import Run
from suite.names import algorithm_name

PROGRAM = "python -m suite compare"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = make_parser("compare", __doc__, "--envs")
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(parser)
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
    announce(study, choice, runs, folder, options.cores)
    with handlers_restored():
        handle(stop)
        try:
            failed = train(study_file, runs, folder, options.cores)
        except Stopped as stopped:
            handle(signal.SIG_IGN)
            (signum,) = stopped.args
            return interrupted(study, runs, folder, signum)
    return conclude(study, folder, failed)


def announce(
    study: dict[str, Any], choice: Choice, runs: Sequence[Run], folder: Path, cores: int
) -> None:
    ((environment, timesteps),) = study["scales"][SCALE]["timesteps"].items()
    names = ", ".join(map(algorithm_name, choice.chosen))
    print(f"{environment}, {timesteps:,} timesteps, {len(runs)} runs, {cores} at a time: {names}")
    for lender in dict.fromkeys(choice.borrowed.values()):
        own = [algorithm_name(name) for name in choice.borrowed if choice.borrowed[name] == lender]
        print(f"settings that were chosen on {lender}, not here: {', '.join(own)}")
    if choice.left_out:
        print(f"left out: {left_out_text(choice.left_out)}")
    if choice.untrained:
        first = ", ".join(f"{algorithm_name(name)}: {n:,}" for name, n in choice.untrained.items())
        print(f"warning: too few timesteps for a first update, which comes after ({first})")
    print(f"everything goes to {folder}", flush=True)


def left_out_text(left_out: Mapping[str, str]) -> str:
    """Which algorithms do not fit, in one line: names by reason, without its details."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        need = re.search("needs (.+?)(?:, but|$)", reason)
        short = f"needs {need[1]}" if need else textwrap.shorten(reason, 80)
        names.setdefault(short, []).append(algorithm_name(name))
    return "; ".join(f"{', '.join(each)} ({reason})" for reason, each in names.items())


def interrupted(study: dict[str, Any], runs: Sequence[Run], folder: Path, signum: int) -> int:
    kept = [run for run in runs if (folder / run.path).exists()]
    if kept:
        print(write_outcome(study, folder))
    message = (
        f"stopped by {signal.Signals(signum).name}: {len(kept)} of {len(runs)} runs are finished "
        f"and kept in {folder}; the same command trains the others"
    )
    return fail(PROGRAM, message, 128 + signum)


def conclude(study: dict[str, Any], folder: Path, failed: Sequence[Run]) -> int:
    runs = config.runs(study, SCALE)
    if len(failed) < len(runs):
        table = write_outcome(study, folder)
        ((_, block),) = study["environments"].items()
        print(f"\n{table}\n")
        threshold = block["thresholds"][0]
        print(f"met: seeds with a mean return of {threshold:g}; at timestep: the median of seeds")
        if UNTRAINED in table:
            print(f"{UNTRAINED}: too few timesteps to learn from, so the policy is untrained")
        print(f"picture: {folder / 'comparison.png'}")
        print(f"tables:  {folder / SCALE / 'summary.md'}")
    if not failed:
        return 0
    logs = ", ".join(str((folder / run.path).with_suffix(".log")) for run in failed)
    return fail(PROGRAM, f"{len(failed)} of {len(runs)} runs failed, see {logs}")
