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
    "optimistic-powr": "mirror descent",
    "optimistic-policy-iteration": "policy iteration",
    "optimistic-value-iteration": "value iteration",
}
CHOICES = ["rhythm", "optimism", "planner"]
COLUMNS = ["environment", *CHOICES, *MEASURED]

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
            **measured(study, variant, results),
        }
        for variant in config.variants(study, NAME)
    ]
    rows.sort(key=lambda row: (row["rhythm"] == "between", row["optimism"] == "off"))
    return sorted_table(study, rows, COLUMNS)


def alike(table: pd.DataFrame, choice: str) -> list[bool]:
    """Per combination of all else, whether it makes no difference what this choice is."""
    others = ["environment", *(other for other in CHOICES if other != choice)]
    return [are_alike(rows) for _, rows in table.groupby(others) if rows["seeds"].all()]


def none_arrives(table: pd.DataFrame) -> int:
    """In how many combinations of environment, rhythm and optimism no planner's median arrives."""
    medians = table.groupby(["environment", "rhythm", "optimism"])["median_first_arrival"]
    return int((medians.count() == 0).sum())


def are_alike(rows: pd.DataFrame) -> bool:
    """Whether all rows arrive about as early, or none does."""
    medians = rows["median_first_arrival"]
    if medians.isna().any():
        return bool(medians.isna().all())
    return bool(medians.max() <= ALIKE * medians.min())
