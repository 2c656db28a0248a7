"""POWR and the algorithms that fit an environment, trained side by side on it.

    python -m suite compare --env CartPole-v1 --timesteps 5000

Trains a few seeds of each in parallel and ends with a table and a picture. Settings are those of
envs.yaml, which is left as it is: the study of the comparison is written beside its results. Runs
that are finished are kept and never trained again, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import matplotlib.style
import pandas as pd
import yaml

from powr.options import add_env_kwargs, count
from suite import SuiteError, config
from suite.command import Stopped, fail, handle, handlers_restored, stop
from suite.config import Run
from suite.names import algorithm_name
from suite.plots import comparison
from suite.plots.render import Tables, read_tables, to_bytes
from suite.plots.style import STYLE
from suite.results.aggregate import aggregate, load_runs
from suite.training import algorithms, environments, preflight
from suite.write import write_together

PROGRAM = "suite compare"
SCALE = "compare"
# Fewer evaluations than in the replication: they would take longer than the training.
EVALUATION = {"episodes": 10, "first": 100, "per_decade": 8}
# Whose settings are those of the paper's authors are left out unless they are asked for.
SOURCES = ("library defaults", "chosen on development seeds")
BAD_INPUT = 2


class Choice(NamedTuple):
    """The algorithms of a comparison, those that do not fit with the reason, and remarks."""

    chosen: list[str]
    left_out: dict[str, str]
    borrowed: dict[str, str]  # whose settings were chosen on another environment, which one


# -- the study ------------------------------------------------------------------------------------


def make_study(
    shipped: Mapping[str, Any], options: argparse.Namespace
) -> tuple[dict[str, Any], Choice]:
    """A study of one environment, with the algorithms of another study that fit it."""
    name, environment = describe_environment(shipped, options)
    env = environments.make(environment)
    thresholds = [options.threshold] if options.threshold is not None else None
    thresholds = thresholds or environment.get("thresholds") or registered_threshold(env)
    study: dict[str, Any] = {
        "environments": {name: {**environment, "thresholds": thresholds}},
        "algorithms": copy.deepcopy(dict(shipped["algorithms"])),
        "evaluation": {**EVALUATION, "first": min(EVALUATION["first"], options.timesteps)},
        "scales": {
            SCALE: {
                "seeds": options.seeds,
                "algorithms": list(shipped["algorithms"]),
                "timesteps": {name: options.timesteps},
            }
        },
    }
    choice = choose_algorithms(study, name, options.algorithms)
    study["scales"][SCALE]["algorithms"] = choice.chosen
    study["algorithms"] = {key: study["algorithms"][key] for key in choice.chosen}
    for block in study["algorithms"].values():
        own = block.get("environments", {})
        block["environments"] = {name: own[name]} if name in own else {}
    return study, choice


def describe_environment(
    shipped: Mapping[str, Any], options: argparse.Namespace
) -> tuple[str, dict[str, Any]]:
    """Name and block of the environment: those of the shipped study where it has the same one."""
    kwargs, known = dict(options.env_kwargs), shipped["environments"]
    for name, block in known.items():
        if block["kwargs"] == kwargs and block["id"] == options.env:
            return name, dict(block)
    if options.env in known and options.env not in gymnasium.registry:
        return options.env, dict(known[options.env])
    settings = "-".join(f"{key}-{json.dumps(value)}" for key, value in kwargs.items())
    name = f"{options.env}-{settings or 'as-registered'}"
    if not kwargs and options.env not in known:
        name = options.env
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")
    return name or "environment", {"id": options.env, "kwargs": kwargs}


def registered_threshold(env: Any) -> list[float]:
    threshold = env.spec.reward_threshold
    if threshold is None:
        raise SuiteError(
            f"{env.spec.id} is registered without a threshold: give --threshold, the return at "
            "which the task counts as learned"
        )
    return [float(threshold)]


def choose_algorithms(
    study: dict[str, Any], environment: str, asked: Sequence[str] | None
) -> Choice:
    """The algorithms that can be made on the environment; one that was asked for must fit."""
    known = study["algorithms"]
    for name in asked or ():
        if name not in known:
            raise SuiteError(f"--algorithms {name}: is not one of {', '.join(known)}")
    names = asked or [key for key, block in known.items() if block["source"]["kind"] in SOURCES]
    choice = Choice([], {}, {})
    for name in dict.fromkeys(names):
        borrowed = borrow_settings(known[name], environment)
        resolved = config.resolve(study, SCALE, environment, name)
        try:
            preflight.check_missing(resolved, name)
            algorithms.build(resolved, preflight.SEEDS)
        except SuiteError as error:
            if asked:
                raise SuiteError(f"--algorithms {name}: {reason_of(error)}") from error
            choice.left_out[name] = reason_of(error)
            continue
        choice.chosen.append(name)
        if borrowed:
            choice.borrowed[name] = borrowed
    if not choice.chosen:
        raise SuiteError(f"no algorithm fits {environment}: {'; '.join(choice.left_out.values())}")
    return choice


def borrow_settings(algorithm: dict[str, Any], environment: str) -> str | None:
    """Give an algorithm that has no settings for an environment those of its first one."""
    own = algorithm.get("environments", {})
    if environment in own or not own:
        return None
    lender = next(iter(own))
    own[environment] = own[lender]
    return lender


def reason_of(error: SuiteError) -> str:
    """Without the list of settings: what the environment lacks comes last."""
    return str(error.__cause__ or error)


# -- the runs -------------------------------------------------------------------------------------


class Job(NamedTuple):
    run: Run
    process: subprocess.Popen[bytes]
    log: Path
    started: float


def train(study_file: Path, runs: Sequence[Run], folder: Path, cores: int) -> list[Run]:
    """Train what is missing, `cores` runs at a time; those that failed are returned."""
    waiting = [run for run in runs if not (folder / run.path).exists()]
    done, failed = len(runs) - len(waiting), []
    working: list[Job] = []
    if done:
        print(f"{done} of {len(runs)} runs are there already")
    try:
        while waiting or working:
            while waiting and len(working) < cores:
                working.append(start(study_file, waiting.pop(0), folder))
            ended = [job for job in working if job.process.poll() is not None]
            for job in ended:
                working.remove(job)
                done += 1
                if job.process.returncode:
                    failed.append(job.run)
                tell(job, done, len(runs))
            if not ended:
                time.sleep(0.05)
    finally:
        for job in working:
            job.process.terminate()
        for job in working:
            job.process.wait()
    return failed


def start(study_file: Path, run: Run, folder: Path) -> Job:
    out = folder / run.path
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".log")
    command = [
        *(sys.executable, "-m", "suite", "run", "--scale", run.scale, "--env", run.environment),
        *("--algorithm", run.algorithm, "--seed", str(run.seed), "--out", str(out)),
        *("--envs", str(study_file)),
    ]
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join([here, os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - this Python with names that were checked
            command,
            stdout=file,
            stderr=file,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for this process to pass on
        )
    return Job(run, process, log, time.monotonic())


def tell(job: Job, done: int, total: int) -> None:
    *_, last = job.log.read_text(encoding="utf-8", errors="replace").splitlines() or ["no message"]
    outcome = f"failed: {last}" if job.process.returncode else last.rpartition(", ")[2]
    seconds = time.monotonic() - job.started
    name = f"{algorithm_name(job.run.algorithm)}, seed {job.run.seed}"
    print(f"[{done}/{total}] {name}: {outcome} ({seconds:.0f} s)", flush=True)


# -- what came out --------------------------------------------------------------------------------


def write_outcome(study: Mapping[str, Any], folder: Path) -> str:
    """Write tables and picture of the runs there are; the table for the terminal."""
    tables = aggregate(study, SCALE, folder, partial=True)
    place = folder / SCALE
    write_together({place / name: text for name, text in tables.items()})
    with matplotlib.style.context(STYLE):
        figure = comparison.draw(read_tables(place, "comparison", Tables))
        write_together(
            {folder / f"comparison.{kind}": to_bytes(figure, kind) for kind in ("png", "pdf")}
        )
    loaded = load_runs(study, SCALE, folder, partial=True)
    seconds = {run: metadata["duration_seconds"] for run, metadata in loaded.metadata.items()}
    return table_of(pd.read_csv(place / "summary.csv"), seconds)


def table_of(summary: pd.DataFrame, seconds: Mapping[Run, float]) -> str:
    """One row per algorithm, the quickest to the threshold first."""
    rows = summary[summary["policy"] == "deterministic"].drop_duplicates("algorithm")
    rows = rows.sort_values(["timesteps_to_threshold", "final_mean"], ascending=[True, False])
    lines = [("algorithm", "met", "at timestep", "final return", "(min to max)", "seconds")]
    for _, row in rows.iterrows():
        times = [spent for run, spent in seconds.items() if run.algorithm == row["algorithm"]]
        median = row["timesteps_to_threshold"]
        lines.append(
            (
                algorithm_name(row["algorithm"]),
                f"{row['n_reached']:.0f} of {row['seeds']:.0f}",
                f"> {row['timesteps']:,.0f}" if math.isnan(median) else f"{median:,.0f}",
                f"{row['final_mean']:.2f}",
                f"({row['final_min']:g} to {row['final_max']:g})",
                f"{sum(times) / len(times):.1f}" if times else "",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    )


# -- the command ----------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> Any:
        self.exit(BAD_INPUT, f"{PROGRAM}: {message} (see --help)\n")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog=PROGRAM, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(parser)
    parser.add_argument(
        "--timesteps", required=True, type=count, metavar="N", help="environment steps per run"
    )
    parser.add_argument(
        "--seeds", type=count, default=3, metavar="N", help="per algorithm (default: %(default)s)"
    )
    parser.add_argument(
        "--algorithms",
        nargs="+",
        metavar="NAME",
        help="some of envs.yaml (default: POWR and all peers that fit, as their libraries or the "
        "textbooks have them)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="return at which the task counts as learned (default: the registered one)",
    )
    parser.add_argument(
        "--cores",
        type=count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="runs at a time, one core each (default: %(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="default: results/compare/ENVIRONMENT"
    )
    parser.add_argument(
        "--envs", default="envs.yaml", help="where settings come from (default: %(default)s)"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        study, choice = make_study(config.load(options.envs), options)
        (environment,) = study["environments"]
        folder = options.out or Path("results", "compare", environment)
        study_file = prepare(folder, study)
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


def prepare(folder: Path, study: dict[str, Any]) -> Path:
    """The folder with the study of the comparison in it, which its runs read."""
    if folder.exists() and not folder.is_dir():
        raise SuiteError(f"--out {folder}: is a file, give a folder")
    path = folder / "study.yaml"
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
    write_together({path: text})
    config.load(path)
    return path


def announce(
    study: dict[str, Any], choice: Choice, runs: Sequence[Run], folder: Path, cores: int
) -> None:
    ((environment, timesteps),) = study["scales"][SCALE]["timesteps"].items()
    names = ", ".join(map(algorithm_name, choice.chosen))
    print(f"{environment}, {timesteps:,} timesteps, {len(runs)} runs, {cores} at a time: {names}")
    for lender in dict.fromkeys(choice.borrowed.values()):
        own = [algorithm_name(name) for name in choice.borrowed if choice.borrowed[name] == lender]
        print(f"settings that were chosen on {lender}, not here: {', '.join(own)}")
    for name, reason in choice.left_out.items():
        print(f"{algorithm_name(name)} is left out: {reason}")
    print(f"everything goes to {folder}", flush=True)


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
        print(f"picture: {folder / 'comparison.png'}")
        print(f"tables:  {folder / SCALE / 'summary.md'}")
    if not failed:
        return 0
    logs = ", ".join(str((folder / run.path).with_suffix(".log")) for run in failed)
    return fail(PROGRAM, f"{len(failed)} of {len(runs)} runs failed, see {logs}")
