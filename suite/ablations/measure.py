"""What the runs of one variant of an ablation say, in the columns that the tables share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from suite.config import Variant
from suite.results import arrivals
from suite.results.cost import cpu_seconds
from suite.results.run_file import read_run_file
from suite.results.statistics import censored_median

FRACTIONS = ["median_first_arrival", "median_lasting_arrival", "late_return", "cpu_seconds"]
COUNTS = ["timesteps", "seeds", "seeds_planned", "n_reached"]
MEASURED = ["threshold", *COUNTS, "first_arrivals", *FRACTIONS]


def sorted_table(
    study: Mapping[str, Any], rows: list[dict[str, Any]], columns: list[str]
) -> pd.DataFrame:
    """The rows in the order of the study's environments."""
    environments = list(study["environments"])
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(FRACTIONS, float))
    return table.sort_values(
        "environment", key=lambda names: names.map(environments.index), kind="stable"
    ).reset_index(drop=True)


def measured(study: Mapping[str, Any], variant: Variant, results: Path) -> dict[str, Any]:
    """One variant of an ablation on its environment, over the seeds that are there."""
    threshold = study["environments"][variant.environment]["thresholds"][0]
    facts = {
        "threshold": threshold,
        "timesteps": variant.resolved["timesteps"],
        "seeds_planned": len(variant.runs),
    }
    loaded = {
        run: read_run_file(results, run, variant.resolved)
        for run in variant.runs
        if (results / run.path).exists()
    }
    if not loaded:
        return {**facts, "seeds": 0, "n_reached": 0}
    evaluations = pd.concat(table for table, _ in loaded.values())
    seconds = [cpu_seconds(results / run.path, metadata) for run, (_, metadata) in loaded.items()]
    return {
        **facts,
        **outcome(arrivals.judged_exactly(evaluations), threshold),
        "cpu_seconds": round(censored_median(seconds), 1),
    }


def outcome(evaluations: pd.DataFrame, threshold: float) -> dict[str, Any]:
    """When the runs of one variant arrived, and their mean return in the second half."""
    (environment,) = evaluations["environment"].unique()
    table = arrivals.tabulate(evaluations, {environment: [threshold]})
    runs = table[table["policy"] == "deterministic"]
    first = runs[arrivals.FIRST].dropna().sort_values()
    return {
        "seeds": len(runs),
        "n_reached": len(first),
        "first_arrivals": " ".join(map(str, first)),
        "median_first_arrival": median_arrival(runs[arrivals.FIRST]),
        "median_lasting_arrival": median_arrival(runs[arrivals.LASTING]),
        "late_return": arrivals.second_half(evaluations)["mean"].mean(),
    }


def median_arrival(column: pd.Series) -> float:
    """Empty in the table, if half of the runs never arrive."""
    return arrivals.median_cell(arrivals.as_times(column))
