"""One run: train one algorithm on one environment with one seed, evaluate it on the way.

    python -m suite run --scale quick --env Taxi-v3 --algorithm dqn --seed 3 --out FILE.csv

The evaluations go to FILE.csv, which holds no clock and is byte-identical when run again;
settings, provenance and times go to FILE.json, a trained POWR or OptimisticPOWR to FILE.npz. All
appear whole or not at all, the CSV last.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from powr.agent import Agent
from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.training import algorithms, provenance
from suite.training.evaluation import COLUMNS, Evaluation, Evaluator, planned_grid

STREAMS = ("training", "agent", "evaluation", "sampled_evaluation")


def seed_streams(seed: int) -> dict[str, int]:
    """Independent seeds of the parts of a run, the same for every algorithm."""
    children = np.random.SeedSequence(seed).spawn(len(STREAMS))
    return {
        name: int(child.generate_state(1)[0]) for name, child in zip(STREAMS, children, strict=True)
    }


class Recorder:
    """The callback of training: evaluates at the points of the grid, stops at the last."""

    def __init__(self, evaluator: Evaluator, points: list[int], name: str) -> None:
        self.evaluator = evaluator
        self.points = points
        self.name = name
        self.rows: list[tuple[int, Evaluation]] = []
        self.times: list[dict[str, float]] = []
        self.start = time.perf_counter()

    def __call__(self, agent: Any) -> bool:
        if agent.num_timesteps != self.points[len(self.rows)]:
            return True
        begin, begin_cpu = time.perf_counter(), time.process_time()
        result = self.evaluator.evaluate(agent, agent.num_timesteps)
        end, end_cpu = time.perf_counter(), time.process_time()
        self.rows.append((agent.num_timesteps, result))
        self.times.append(
            {
                "timestep": agent.num_timesteps,
                "seconds": end - self.start,
                "evaluation_seconds": end - begin,
                "cpu_seconds": end_cpu,
                "evaluation_cpu_seconds": end_cpu - begin_cpu,
            }
        )
        training = end - self.start - sum(entry["evaluation_seconds"] for entry in self.times)
        print(
            f"{self.name}: {agent.num_timesteps:,} of {self.points[-1]:,} timesteps, "
            f"{agent.num_timesteps / training:,.0f} a second, last return {result.mean:.2f}",
            file=sys.stderr,
            flush=True,
        )
        return len(self.rows) < len(self.points)


def run(settings: dict[str, Any], seed: int, name: str) -> tuple[str, dict[str, Any], bytes | None]:
    """The text of the run's CSV, the content of its JSON, and the file of a trained POWR."""
    started = datetime.now(UTC)
    seeds = seed_streams(seed)
    protocol = settings["evaluation"]
    learn = algorithms.build(settings, seeds, seed)
    evaluator = Evaluator(
        settings["environment"],
        episodes=protocol["episodes"],
        seed=seeds["evaluation"],
        sampled_seed=seeds["sampled_evaluation"] if records_sampled(settings) else None,
        shared_from=protocol.get("shared_from", 0),
        run_seed=seed,
    )
    points = planned_grid(settings)
    recorder = Recorder(evaluator, points, name)
    # All libraries are loaded by now, so that none is missed.
    with threadpoolctl.threadpool_limits(1):
        origin = provenance.collect()
        trained = learn(settings["timesteps"], callback=recorder)
    if len(recorder.rows) < len(points):
        raise SuiteError(
            f"{name}: training ended before timestep {points[len(recorder.rows)]}, where an "
            "evaluation was due"
        )
    csv = as_csv(recorder.rows)
    agent = saved(trained) if algorithms.saves_agent(settings["algorithm"]["class"]) else None
    document: dict[str, Any] = {"settings": {**settings, "seed": seed}}
    if hasattr(trained, "n_overshoots_"):
        overshoots = {"plans": trained.n_overshoots_, "worst": trained.worst_overshoot_}
        document |= {"plans": trained.n_plans_, "overshoots": overshoots}
    document["digest"] = config.digest(settings)
    document["csv_sha256"] = hashlib.sha256(csv.encode()).hexdigest()
    if agent is not None:
        document["agent_sha256"] = hashlib.sha256(agent).hexdigest()
    document |= {
        "provenance": origin,
        "seed_streams": seeds,
        "started": started.isoformat(timespec="seconds"),
        "duration_seconds": recorder.times[-1]["seconds"],
        "peak_memory_bytes": provenance.peak_memory_bytes(),
        "evaluations": recorder.times,
    }
    return csv, document, agent


def records_sampled(settings: dict[str, Any]) -> bool:
    """Whether the policy is evaluated by sampling too: of POWR and OptimisticPOWR always."""
    algorithm = settings["algorithm"]
    return algorithms.saves_agent(algorithm["class"]) or algorithm.get("sampled", False)


def saved(agent: Agent) -> bytes:
    """The content of the file that `load` reads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agent.npz")
        agent.save(path)
        return path.read_bytes()


def as_csv(rows: list[tuple[int, Evaluation]]) -> str:
    lines = [COLUMNS, *((timestep, *evaluation) for timestep, evaluation in rows)]
    return "".join(
        ",".join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines
    )


def check_out(out: Path, run: config.Run) -> None:
    """Refuse a file that could not be written in the end, or that would pass for another run."""
    if out.suffix != ".csv" or out.is_dir():
        raise SuiteError(f"--out {out}: must name a file that ends in .csv")
    folder = next(folder for folder in out.absolute().parents if folder.exists())
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise SuiteError(f"--out {out}: {folder} is not a folder that can be written to")
    if re.fullmatch(r"seed\d+-[0-9a-f]{12}", out.stem) and out.name != run.path.name:
        raise SuiteError(
            f"--out {out}: the name is that of another seed or other settings; this run's is "
            f"{run.path.name}. If envs.yaml has changed since the workflow started, start it again"
        )


def main(arguments: list[str] | None = None) -> int:
    parser = make_parser("run", __doc__, "--envs")
    parser.add_argument("--scale", required=True, help="of the study, ablations or multiverse")
    parser.add_argument("--env", required=True, help="an environment of the scale")
    parser.add_argument("--algorithm", required=True, help="an algorithm of the scale")
    parser.add_argument("--seed", required=True, type=int, help="a whole number from 0 on")
    parser.add_argument(
        "--varied",
        type=json.loads,
        default={},
        help="what an ablation or the multiverse varies, as JSON: a setting's name and value",
    )
    parser.add_argument("--out", required=True, type=Path, help="run file to write, ends in .csv")
    options = parser.parse_args(arguments)
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: must be a whole number from 0 on")

    def make() -> dict[Path, str | bytes]:
        study = config.load(options.envs)
        combination = study.combination(
            options.scale, options.env, options.algorithm, options.varied
        )
        check_out(options.out, combination.run(options.seed))
        algorithms.check_environment(study, combination.environment)
        algorithms.check_settings(study, combination)
        name = f"{options.algorithm} on {options.env}, seed {options.seed}"
        csv, document, agent = run(combination.settings, options.seed, name)
        # The CSV comes last: it says that the run is finished.
        return {
            options.out.with_suffix(".json"): json.dumps(document, indent=1) + "\n",
            **({} if agent is None else {options.out.with_suffix(".npz"): agent}),
            options.out: csv,
        }

    return write_result(parser.prog, make)
