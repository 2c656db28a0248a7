"""From the runs of all ablations to ablations.csv: one row per environment and ablation.

The ablation `planners` has a table of its own, planners.csv: one row per environment, rhythm,
optimism and planner.

The return is exact where the environment has a transition table, else the mean of the episodes
played: luck with the starts would blur what an ablation does.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from suite import SuiteError
from suite.config import Combination, Study
from suite.results import arrivals
from suite.results.tables import Results

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


def judged_exactly(evaluations: pd.DataFrame) -> pd.DataFrame:
    """The evaluations with the exact return in place of the played one, where it is known."""
    exact = {
        played: evaluations[known].fillna(evaluations[played])
        for played, known in arrivals.POLICIES.values()
    }
    return evaluations.assign(**exact)


def tabulate(study: Study, results: Results) -> pd.DataFrame:
    """What finished runs say; `seeds` of `seeds_planned` are there."""
    rows = [
        {
            "environment": each.environment,
            "ablation": name,
            "change": study.ablations[name].change or name,
            **measure(study, each, results),
        }
        for name in study.ablations
        if name != PLANNERS
        for each in single_combinations(study, name)
    ]
    return sorted_table(study, rows, ["environment", "ablation", "change", *MEASURED])


def single_combinations(study: Study, name: str) -> list[Combination]:
    """Those of an ablation; a row shows one, so it is an error to have two on an environment."""
    found = study.ablations[name].combinations()
    for environment, count in Counter(each.environment for each in found).items():
        if count > 1:
            raise SuiteError(
                f"ablations.{name}: has {count} combinations on {environment}: give each setting "
                "one value, and each combination its own ablation"
            )
    return found


def tabulate_planners(study: Study, results: Results) -> pd.DataFrame:
    """The planners of one combination stand side by side."""
    rows = [
        {
            "environment": each.environment,
            "rhythm": "within" if each.varied.get("plan_within_episodes", True) else "between",
            "optimism": "off" if "prior" in each.varied else "on",
            "planner": PLANNER_NAMES[each.algorithm],
            **measure(study, each, results),
        }
        for each in study.ablations[PLANNERS].combinations()
    ]
    rows.sort(key=lambda row: (row["rhythm"] == "between", row["optimism"] == "off"))
    return sorted_table(study, rows, ["environment", *CHOICES, *MEASURED])


def sorted_table(study: Study, rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """The rows in the order of the study's environments."""
    environments = list(study.environments)
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(FRACTIONS, float))
    return table.sort_values(
        "environment", key=lambda names: names.map(environments.index), kind="stable"
    ).reset_index(drop=True)


def measure(study: Study, combination: Combination, results: Results) -> dict[str, Any]:
    """Timesteps to threshold of the runs of one combination, and their mean late return."""
    environment = combination.environment
    threshold = study.environments[environment].thresholds[0]
    facts = {
        "threshold": threshold,
        "timesteps": combination.settings["timesteps"],
        "seeds_planned": combination.seeds,
    }
    # Two ablations with the same settings share runs: each shows its first seeds.
    training, rows = results.training, results.evaluations
    training = training[training["digest"] == combination.digest]
    training = training[training["seed"] < combination.seeds]
    rows = rows[(rows["combination"] == combination.digest) & (rows["seed"] < combination.seeds)]
    if rows.empty:
        return {**facts, "seeds": 0, "n_reached": 0}
    evaluations = judged_exactly(rows)
    second_half = evaluations[evaluations["timestep"] >= evaluations["timestep"].max() / 2]
    arrived = arrivals.tabulate(evaluations, {environment: [threshold]})
    runs = arrived[arrived["policy"] == "deterministic"]
    first, lasting = (arrivals.as_times(runs[name]) for name in (arrivals.FIRST, arrivals.LASTING))
    sorted_arrivals = runs[arrivals.FIRST].dropna().sort_values()
    return {
        **facts,
        "seeds": len(runs),
        "n_reached": len(sorted_arrivals),
        "first_arrivals": " ".join(map(str, sorted_arrivals)),
        "median_first_arrival": arrivals.median_cell(first),
        "median_lasting_arrival": arrivals.median_cell(lasting),
        "late_return": second_half["mean"].mean(),
        "cpu_seconds": round(np.median(training["cpu_seconds"]), 1),
    }
