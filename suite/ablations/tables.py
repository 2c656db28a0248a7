"""From the run files of all ablations to ablations.csv: one row per environment and ablation.

The ablation `planners` has a table of its own, planners.csv (suite/ablations/planners.py).

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
from suite.ablations import planners
from suite.ablations.measure import MEASURED, measured, sorted_table
from suite.command import make_parser, write_result
from suite.results.aggregate import to_csv

COLUMNS = ["environment", "ablation", "change", *MEASURED]


def tabulate(study: Mapping[str, Any], results: Path) -> pd.DataFrame:
    """What the runs that are there say; `seeds` of `seeds_planned` are there."""
    rows = [
        {
            "environment": variant.environment,
            "ablation": name,
            "change": study["ablations"][name].get("change", name),
            **measured(study, variant, results),
        }
        for name in study["ablations"]
        if name != planners.NAME
        for variant in variants(study, name)
    ]
    return sorted_table(study, rows, COLUMNS)


def variants(study: Mapping[str, Any], name: str) -> list[config.Variant]:
    """The variants of an ablation; a row shows one, so it is an error to have two of a kind."""
    found = config.variants(study, name)
    for environment, count in Counter(variant.environment for variant in found).items():
        if count > 1:
            raise SuiteError(
                f"ablations.{name}: has {count} variants on {environment}: give each setting one "
                "value, and each variant its own ablation"
            )
    return found


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
            folder / "planners.csv": to_csv(planners.tabulate(study, options.results)),
        }

    return write_result(parser.prog, make)
