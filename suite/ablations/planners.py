"""The ablation `planners`: one row per environment, rhythm, optimism and planner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from suite import config
from suite.ablations.measure import MEASURED, measured, sorted_table

NAME = "planners"
PLANNERS = {
    "powr": "mirror descent",
    "powr-policy-iteration": "policy iteration",
    "powr-value-iteration": "value iteration",
}
COMBINATION = ["environment", "rhythm", "optimism"]
COLUMNS = [*COMBINATION, "planner", *MEASURED]

# Medians of three seeds that are this close to each other are called alike.
ALIKE = 2.0


def tabulate(study: Mapping[str, Any], results: Path) -> pd.DataFrame:
    """The planners of one combination stand side by side."""
    rows = [
        {
            "environment": variant.environment,
            "rhythm": "within" if variant.varied.get("plan_within_episodes", True) else "between",
            "optimism": "off" if "prior" in variant.varied else "on",
            "planner": PLANNERS[variant.algorithm],
            **measured(study, NAME, variant, results),
        }
        for variant in config.variants(study, NAME)
    ]
    rows.sort(key=lambda row: (row["rhythm"] == "between", row["optimism"] == "off"))
    return sorted_table(study, rows, COLUMNS)


def are_alike(rows: pd.DataFrame) -> bool:
    """Whether all planners of a combination arrive about as early, or none does."""
    medians = rows["median_first_arrival"]
    if medians.isna().any():
        return bool(medians.isna().all())
    return bool(medians.max() <= ALIKE * medians.min())
