"""From the run files of all ablations to ablations.csv: one row per environment and ablation.

The ablation `planners` has a table of its own, planners.csv: one row per environment, rhythm,
optimism and planner.

The return is exact where the environment has a transition table, else the mean of the episodes
played: luck with the starts would blur what an ablation does.

    python -m suite ablations
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite import SuiteError, config
from suite.command import make_parser, write_result
from suite.results import arrivals
from suite.results.aggregate import to_csv
from suite.results.cost import cpu_seconds
from suite.results.run_file import read_run_file
from suite.results.statistics import censored_median

PLANNERS = "planners"  # the ablation of this name
PLANNER_NAMES = {
    "optimistic-powr": "mirror descent",
    "optimistic-policy-iteration": "policy iteration",
    "optimistic-value-iteration": "value iteration",
}
CHOICES = ["rhythm", "optimism", "planner"]
FRACTIONS = ["median_first_arrival", "median_lasting_arrival", "late_return", "cpu_seconds"]
COUNTS = ["timesteps", "seeds", "seeds_planned", "n_reached"]
MEASURED = ["threshold", *COUNTS, "first_arrivals", *FRACTIONS]


def tabulate(study: Mapping[str, Any], results: Path) -> pd.DataFrame:
    """What the runs that are there say; `seeds` of `seeds_planned` are there."""
    rows = [
        {
            "environment": variant.environment,
            "ablation": name,
            "change": study["ablations"][name].get("change", name),
            **measure(study, variant, results),
        }
        for name in study["ablations"]
        if name != PLANNERS
        for variant in only_variants(study, name)
    ]
    return sorted_table(study, rows, ["environment", "ablation", "change", *MEASURED])


def only_variants(study: Mapping[str, Any], name: str) -> list[config.Variant]:
    """The variants of an ablation; a row shows one, so it is an error to have two of a kind."""
    found = config.variants(study, name)
    for environment, count in Counter(variant.environment for variant in found).items():
        if count > 1:
            raise SuiteError(
                f"ablations.{name}: has {count} variants on {environment}: give each setting one "
                "value, and each variant its own ablation"
            )
    return found


def tabulate_planners(study: Mapping[str, Any], results: Path) -> pd.DataFrame:
    """The planners of one combination stand side by side."""
    rows = [
        {
            "environment": variant.environment,
            "rhythm": "within" if variant.varied.get("plan_within_episodes", True) else "between",
            "optimism": "off" if "prior" in variant.varied else "on",
            "planner": PLANNER_NAMES[variant.algorithm],
            **measure(study, variant, results),
        }
        for variant in config.variants(study, PLANNERS)
    ]
    rows.sort(key=lambda row: (row["rhythm"] == "between", row["optimism"] == "off"))
    return sorted_table(study, rows, ["environment", *CHOICES, *MEASURED])


def sorted_table(
    study: Mapping[str, Any], rows: list[dict[str, Any]], columns: list[str]
) -> pd.DataFrame:
    """The rows in the order of the study's environments."""
    environments = list(study["environments"])
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(FRACTIONS, float))
    return table.sort_values(
        "environment", key=lambda names: names.map(environments.index), kind="stable"
    ).reset_index(drop=True)


def measure(study: Mapping[str, Any], variant: config.Variant, results: Path) -> dict[str, Any]:
    """When the runs of one variant arrived, and their mean return in the second half."""
    environment = variant.environment
    threshold = study["environments"][environment]["thresholds"][0]
    facts = {
        "threshold": threshold,
        "timesteps": variant.resolved["timesteps"],
        "seeds_planned": len(variant.runs),
    }
    loaded = {
        results / run.path: read_run_file(results, run, variant.resolved)
        for run in variant.runs
        if (results / run.path).exists()
    }
    if not loaded:
        return {**facts, "seeds": 0, "n_reached": 0}
    evaluations = arrivals.judged_exactly(pd.concat(table for table, _ in loaded.values()))
    arrived = arrivals.tabulate(evaluations, {environment: [threshold]})
    runs = arrived[arrived["policy"] == "deterministic"]
    first, lasting = (arrivals.as_times(runs[name]) for name in (arrivals.FIRST, arrivals.LASTING))
    sorted_arrivals = runs[arrivals.FIRST].dropna().sort_values()
    seconds = [cpu_seconds(path, metadata) for path, (_, metadata) in loaded.items()]
    return {
        **facts,
        "seeds": len(runs),
        "n_reached": len(sorted_arrivals),
        "first_arrivals": " ".join(map(str, sorted_arrivals)),
        "median_first_arrival": arrivals.median_cell(first),
        "median_lasting_arrival": arrivals.median_cell(lasting),
        "late_return": arrivals.second_half(evaluations)["mean"].mean(),
        "cpu_seconds": round(censored_median(seconds), 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("ablations", __doc__, "--envs", "--results", "--partial")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, folder = config.load(options.envs), options.results / config.ABLATIONS
        planned = {
            options.results / run.path
            for name in study["ablations"]
            for _, run in config.variant_runs(study, name)
        }
        there = sum(path.exists() for path in planned)
        if there < len(planned):
            fault = f"{len(planned) - there} of {len(planned)} runs of the ablations are missing"
            if not options.partial or there == 0:
                raise SuiteError(f"{fault}: run `make ablations`, or give --partial")
            print(f"{parser.prog}: {fault}", file=sys.stderr)
        return {
            folder / "ablations.csv": to_csv(tabulate(study, options.results)),
            folder / "planners.csv": to_csv(tabulate_planners(study, options.results)),
        }

    return write_result(parser.prog, make)
