"""What the explorer in report.html is given: every evaluation, its mean, and each line's colour.

The returns are those of evaluations.csv to the last digit, so that a threshold which the reader
drags back to the study's gives the times of runs.csv.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from suite.claims.document import Document
from suite.config import Study
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, KINDS, LIBRARY, POWR
from suite.names import algorithm_name
from suite.results.tables import Results
from suite.training.evaluation import planned_grid

# The hue tells the settings: red is POWR, blue to violet are the library's defaults, green to brown
# the authors' settings. Contrast with the page is at least 3, as WCAG 2 asks.
COLOURS = {
    "powr": "#c1121f",
    **{"a2c": "#0284a8", "dqn": "#332288", "ppo": "#1e88e5", "trpo": "#8e5bd0"},
    **{"a2c-authors": "#6b7a00", "dqn-authors": "#117733", "ppo-authors": "#b88200"},
    "trpo-authors": "#8c510a",
}
# The policy's name in curves.csv, and its column in evaluations.csv.
RECORDED = {"greedy": ("deterministic", "mean"), "sampled": ("sampled", "sampled_mean")}
OTHERS = ("#607d8b", "#d81b60", "#41a291", "#455a64", "#ad1457", "#00796b", "#8d6e8a")
PAPER_KINDS = (POWR, DEEP_OF_SOURCE[AUTHORS], DEEP_OF_SOURCE[LIBRARY])
ORDER = (*PAPER_KINDS, *(kind for kind in KINDS if kind not in PAPER_KINDS))


def describe(
    study: Study, document: Document, found: Mapping[str, Results], curves: pd.DataFrame
) -> dict[str, Any]:
    """Everything that the page's script reads; `found` has the tables of each scale."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for scale, results in found.items():
        for environment, group in show_groups(study, document, scale, results, curves):
            groups.setdefault(environment, []).append(group)
    names = dict.fromkeys(group["algorithm"] for each in groups.values() for group in each)
    kind = {name: study.algorithms[name].kind for name in names}
    algorithms = sorted(names, key=lambda name: ORDER.index(kind[name]))
    others = [name for name in algorithms if name not in COLOURS]
    colour = COLOURS | {name: OTHERS[i % len(OTHERS)] for i, name in enumerate(others)}
    return {
        "algorithms": [
            {
                "key": name,
                "name": algorithm_name(name),
                "kind": kind[name],
                "shown": kind[name] in PAPER_KINDS,
                "colour": colour[name],
            }
            for name in algorithms
        ],
        "environments": [
            {
                "name": environment,
                "thresholds": study.environments[environment].thresholds,
                "random": groups[environment],
                # The same where there is one start state anyway.
                "fixed": groups.get(document.started(environment, "fixed"), []),
            }
            for environment in study.scale(next(iter(found))).timesteps
        ],
    }


def show_groups(
    study: Study, document: Document, scale: str, results: Results, curves: pd.DataFrame
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of each algorithm of a scale; without runs where none is there."""
    key = ["environment", "algorithm"]
    tables = dict(iter(results.evaluations.groupby(key, sort=False)))
    means = dict(iter(curves.groupby([*key, "policy"], sort=False)))
    for each in study.combinations(scale):
        pair = (each.environment, each.algorithm)
        # What some algorithms sample is their exploration, and no policy.
        is_policy = {"greedy": True, "sampled": each.algorithm not in document.greedy}
        policies = {
            policy: means[(*pair, mean)][["mean", "min", "max"]].to_dict("list")
            for policy, (mean, column) in RECORDED.items()
            if pair in tables and is_policy[policy] and tables[pair][column].notna().all()
        }
        group = {"algorithm": each.algorithm, "timesteps": planned_grid(each.settings)}
        runs = [
            {"seed": run.seed, "file": f"../{run.path.as_posix()}"}
            | {
                policy: shortest(rows[RECORDED[policy][1]])
                for rows in [tables[pair][tables[pair]["seed"] == run.seed]]
                for policy in policies
            }
            for run in each.runs
            if pair in tables and run in results.there
        ]
        yield each.environment, {**group, "policies": policies, "runs": runs}


def shortest(values: pd.Series) -> list[float]:
    """The same numbers, whole ones without a decimal point."""
    return [int(value) if value.is_integer() else value for value in values.tolist()]
