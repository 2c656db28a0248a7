"""What the results cost: cost.csv, one row per environment, algorithm and threshold.

The time to the threshold stands beside its timesteps: few timesteps may still take a day. Times
differ between machines and between runs, and on a shared core they include waiting. So no other
table but the ladder has them.

    python -m suite cost --scale quick
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite import SuiteError, config
from suite.names import algorithm_name
from suite.results import aggregate, arrivals
from suite.results.run_file import told_by_json
from suite.results.summary import Planned

BENCHMARK, RUN_JSON = "benchmark", "run JSON"


class Cost(NamedTuple):
    """What one run took, on one core."""

    training_seconds: Mapping[int, float]  # until each evaluation, without the evaluations
    evaluation_seconds: float
    wall_seconds: float
    source: str  # of wall_seconds
    peak_memory_bytes: int


def read_cost(path: Path, metadata: Mapping[str, Any], timesteps: Sequence[int]) -> Cost:
    """The cost of a run file: Snakemake's benchmark beside it where there is one, and its JSON.

    The benchmark's time includes the start of Python. Memory is the peak in the JSON, since the
    benchmark only samples it.
    """
    with told_by_json(path):
        clock = pd.DataFrame(metadata["evaluations"]).set_index("timestep").loc[timesteps]
        clock = clock[["seconds", "evaluation_seconds"]].astype(float)
        wall, memory = float(metadata["duration_seconds"]), int(metadata["peak_memory_bytes"])
    source = RUN_JSON
    if (benchmark := path.with_suffix(".benchmark.tsv")).exists():
        wall, source = read_benchmark(benchmark), BENCHMARK
    evaluating = clock["evaluation_seconds"].cumsum()
    training = (clock["seconds"] - evaluating).to_dict()
    return Cost(training, float(evaluating.iloc[-1]), wall, source, memory)


def cpu_seconds(path: Path, metadata: Mapping[str, Any]) -> float:
    """CPU time of a run with its evaluations, from before its first evaluation to after its last.

    That leaves out the start of Python, which has nothing to do with the run.
    """
    with told_by_json(path, "the CPU time"):
        first, *_, last = metadata["evaluations"]
        before = float(first["cpu_seconds"]) - float(first["evaluation_cpu_seconds"])
        return float(last["cpu_seconds"]) - before


def read_benchmark(path: Path) -> float:
    """Seconds in a benchmark file of Snakemake."""
    try:
        return float(pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)["s"].iloc[-1])
    except (IndexError, KeyError, ValueError):
        raise SuiteError(
            f"{path}: is not a benchmark file of Snakemake: delete it, and the time is taken from "
            "the run's JSON"
        ) from None


def tabulate(
    plan: Iterable[Planned], costs: Mapping[config.Run, Cost], runs: pd.DataFrame
) -> pd.DataFrame:
    """One row per environment, algorithm and threshold; `runs` is runs.csv."""
    rows = []
    for planned in plan:
        pair, budget = planned[:2], planned.timesteps[-1]
        own = {
            run.seed: cost
            for run, cost in costs.items()
            if (run.environment, run.algorithm) == pair
        }
        whole = {
            "environment": pair[0],
            "algorithm": pair[1],
            "runs": len(own),
            "timesteps": budget,
            **(_whole_runs(budget, list(own.values())) if own else {}),
        }
        rows += [
            {**whole, "threshold": threshold, **_arrivals(group, own)}
            for threshold, group in arrivals.select(runs, *pair).groupby("threshold", sort=False)
        ] or [whole]
    return pd.DataFrame(rows)


def _whole_runs(budget: int, costs: Sequence[Cost]) -> dict[str, Any]:
    training = sum(cost.training_seconds[budget] for cost in costs)
    evaluating = sum(cost.evaluation_seconds for cost in costs)
    sources = Counter(cost.source for cost in costs)
    return {
        "timesteps_per_second": len(costs) * budget / training,
        "evaluation_share": evaluating / (training + evaluating),
        "wall_hours": sum(cost.wall_seconds for cost in costs) / 3600,
        "time_source": " and ".join(
            source if len(sources) == 1 else f"{source} of {sources[source]}"
            for source in (BENCHMARK, RUN_JSON)
            if sources[source]
        ),
        "peak_memory_mb": max(cost.peak_memory_bytes for cost in costs) / 1e6,
    }


def _arrivals(runs: pd.DataFrame, costs: Mapping[int, Cost]) -> dict[str, float]:
    timesteps = arrivals.as_times(runs[arrivals.FIRST])
    training = [costs[seed].training_seconds for seed in runs["seed"]]
    return {
        "n_reached": int(np.isfinite(timesteps).sum()),
        "timesteps_to_threshold": arrivals.median_cell(timesteps),
        "seconds_to_threshold": arrivals.median_cell(seconds_until(timesteps, training)),
    }


def seconds_until(times: Iterable[float], training: Iterable[Mapping[int, float]]) -> list[float]:
    """Of each run's training until its time, infinite for never."""
    return [
        math.inf if math.isinf(time) else seconds[int(time)]
        for time, seconds in zip(times, training, strict=True)
    ]


def cost_table(study: Mapping[str, Any], scale: str, results: Path) -> pd.DataFrame:
    """The table of the runs that are there."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    plan = aggregate.plan(study, scale)
    grids = {(pair.environment, pair.algorithm): pair.timesteps for pair in plan}
    costs = {
        run: read_cost(results / run.path, metadata, grids[run.environment, run.algorithm])
        for run, metadata in loaded.metadata.items()
    }
    return tabulate(plan, costs, aggregate.read_arrivals(results / scale, loaded))


HEAD = (
    "algorithm",
    "timesteps per second",
    "hours by the clock",
    "hours from",
    "peak memory",
    "threshold",
    "reached",
    "median timesteps",
    "median training time",
)


def as_text(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of one environment to read, the head first."""
    return [HEAD, *map(_row_text, table.to_dict("records"))]


def _row_text(row: Mapping[str, Any]) -> tuple[str, ...]:
    name = algorithm_name(row["algorithm"])
    if not row["runs"]:
        return (name, *["no run"] * (len(HEAD) - 1))
    arrives = not math.isnan(row["timesteps_to_threshold"])
    return (
        name,
        f"{row['timesteps_per_second']:,.0f}",
        f"{row['wall_hours']:,.3f}",
        row["time_source"],
        f"{row['peak_memory_mb']:,.0f} MB",
        f"{row['threshold']:g}",
        f"{row['n_reached']:.0f} of {row['runs']}",
        f"{row['timesteps_to_threshold']:,.0f}" if arrives else f"> {row['timesteps']:,}",
        duration_text(row["seconds_to_threshold"]) if arrives else "not within training",
    )


def duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def main(arguments: Sequence[str] | None = None) -> int:
    return aggregate.write_table("cost", __doc__, cost_table, arguments)
