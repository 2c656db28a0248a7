"""What the results cost: cost.csv, one row per environment and algorithm.

Times are by the clock: they differ between machines, and on a shared core they include waiting. The
time to the threshold is in ladder.csv.

    python -m suite cost --scale quick
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite.names import algorithm_name
from suite.results import aggregate
from suite.results.run_file import RunFileError


def cost_table(study: Mapping[str, Any], scale: str, results: Path) -> pd.DataFrame:
    """What the runs that are there took, one core per run."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    rows = []
    for planned in aggregate.plan(study, scale):
        own = [
            metadata
            for run, metadata in loaded.metadata.items()
            if (run.environment, run.algorithm) == planned[:2]
        ]
        budget = planned.timesteps[-1]
        row = {
            "environment": planned.environment,
            "algorithm": planned.algorithm,
            "runs": len(own),
            "timesteps": budget,
        }
        if own:
            evaluating = [
                sum(each["evaluation_seconds"] for each in metadata["evaluations"])
                for metadata in own
            ]
            training = sum(
                metadata["evaluations"][-1]["seconds"] - seconds
                for metadata, seconds in zip(own, evaluating, strict=True)
            )
            row |= {
                "timesteps_per_second": len(own) * budget / training,
                "evaluation_share": sum(evaluating) / (training + sum(evaluating)),
                "wall_hours": sum(metadata["duration_seconds"] for metadata in own) / 3600,
                "peak_memory_mb": max(metadata["peak_memory_bytes"] for metadata in own) / 1e6,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def as_text(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of one environment to read, the head first."""
    head = ("algorithm", "timesteps per second", "hours by the clock", "peak memory")
    rows = [
        (
            algorithm_name(row.algorithm),
            f"{row.timesteps_per_second:,.0f}",
            f"{row.wall_hours:,.3f}",
            f"{row.peak_memory_mb:,.0f} MB",
        )
        if row.runs
        else (algorithm_name(row.algorithm), *["no run"] * 3)
        for row in table.itertuples()
    ]
    return [head, *rows]


def cpu_seconds(path: Path, metadata: Mapping[str, Any]) -> float:
    """CPU time of a run with its evaluations, from before its first evaluation to after its last.

    That leaves out the start of Python, which has nothing to do with the run.
    """
    try:
        first, *_, last = metadata["evaluations"]
        before = float(first["cpu_seconds"]) - float(first["evaluation_cpu_seconds"])
        return float(last["cpu_seconds"]) - before
    except (KeyError, IndexError, TypeError, ValueError) as error:
        fault = f"{path.stem}.json does not tell the CPU time ({error!r})"
        raise RunFileError(path, fault) from None


def duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def main(arguments: Sequence[str] | None = None) -> int:
    return aggregate.write_table("cost", __doc__, cost_table, arguments)
