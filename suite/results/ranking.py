"""ranking.csv and cost.csv: every algorithm's timesteps to the first threshold, and what it took.

The ranking has one row per environment and algorithm of a scale, and one more for the sampled
policy of the paper's POWR. Seconds are of training, without evaluations. In cost.csv times are by
the clock: they differ between machines, and on a shared core they include waiting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from suite.config import Combination, algorithm_name
from suite.config.models import AUTHORS, DEEP, DEEP_OF_SOURCE, LIBRARY, POWR
from suite.results import arrivals
from suite.results.run_file import Spent
from suite.training.evaluation import planned_grid

CPU, CLOCK = "CPU", "clock"
# What the settings of deep baselines are called, by their kind.
SETTINGS = {
    DEEP_OF_SOURCE[LIBRARY]: "library defaults",
    DEEP_OF_SOURCE[AUTHORS]: "authors' settings",
    DEEP: "rl-zoo settings",
}
ROW, RUN = ["environment", "algorithm", "policy"], ["environment", "algorithm", "seed"]
COLUMNS = [
    *(*ROW, "kind", "threshold", "first_evaluation", "timesteps", "seeds", "seeds_planned"),
    *("n_reached", "median", "earliest", "latest", "median_lasting"),
    *("seconds_to_threshold", "seconds_in_all", "measured_by"),
]


def measured_by(evaluations: Sequence[Spent]) -> str:
    return CLOCK if math.isnan(evaluations[0].cpu_seconds) else CPU


def training_seconds(evaluations: Sequence[Spent]) -> np.ndarray:
    """Seconds of training until each evaluation, by the CPU where the run recorded them.

    Until the first evaluation always by the clock, since the CPU time there holds the start of
    Python too.
    """
    prefix = "cpu_" if measured_by(evaluations) == CPU else ""
    spent = np.array([getattr(entry, f"{prefix}seconds") for entry in evaluations])
    paused = np.cumsum([getattr(entry, f"evaluation_{prefix}seconds") for entry in evaluations])
    before_first = evaluations[0].seconds - evaluations[0].evaluation_seconds
    return before_first + (spent - spent[0]) - (paused - paused[0])


def rank(
    combinations: Sequence[Combination],
    summary: pd.DataFrame,
    reached: pd.DataFrame,
    training: pd.DataFrame,
    evaluations: pd.DataFrame,
) -> pd.DataFrame:
    """The summary's rows of first thresholds, with seconds of training.

    `reached` is runs.csv, and the evaluations have the seconds of training until each of them.
    """
    # The authors evaluate the sampled policy of POWR, so POWR is shown by both.
    is_shown = (summary["policy"] == "deterministic") | (summary["kind"] == POWR)
    table = (
        summary[is_shown]
        .drop_duplicates(ROW)
        .rename(
            columns={"timesteps_to_threshold": "median", "timesteps_to_lasting": "median_lasting"}
        )
    )
    first = {
        (each.environment, each.algorithm): planned_grid(each.settings)[0] for each in combinations
    }
    pairs = zip(table["environment"], table["algorithm"], strict=True)
    table["first_evaluation"] = [first[pair] for pair in pairs]
    runs = reached.drop_duplicates([*ROW, "seed"]).merge(
        evaluations, "left", left_on=[*RUN, arrivals.FIRST], right_on=[*RUN, "timestep"]
    )
    seconds = (
        runs.merge(training, on=RUN, suffixes=("", "_in_all"))
        .groupby(ROW)
        .agg(
            seconds_to_threshold=("training_seconds", _median_of_reached),
            seconds_in_all=("training_seconds_in_all", np.median),
            measured_by=("measured_by", lambda clocks: CPU if (clocks == CPU).all() else CLOCK),
        )
    )
    return table.join(seconds, on=ROW)[COLUMNS]


def _median_of_reached(seconds: pd.Series) -> float:
    return arrivals.median_cell(arrivals.as_times(seconds))


def best_settings(summary: pd.DataFrame) -> pd.DataFrame:
    """POWR and each class of baseline, under the settings that most seeds reach the threshold with.

    Ties go to the smaller median. Where no seed does under any, `settings` says so.
    """
    main = summary["threshold"] == summary.groupby("environment")["threshold"].transform("first")
    is_powr = summary["kind"].eq(POWR) & summary["policy"].eq("sampled")
    is_baseline = summary["kind"].isin(SETTINGS) & summary["policy"].eq("deterministic")
    table = summary[main & (is_powr | is_baseline)]
    table = table.assign(
        **{"class": table["algorithm"].str.split("-").str[0]},
        settings=table["kind"].map(SETTINGS).fillna(""),
        median=table["timesteps_to_threshold"].fillna(math.inf),
    )
    key = ["environment", "class"]
    never = table.groupby(key)["n_reached"].transform("max") == 0
    twice = table.groupby(key)["n_reached"].transform("size") > 1
    table["settings"] = table["settings"].mask(never & twice, "all settings")
    order = ["n_reached", "median", "timesteps"]
    best = table.sort_values(order, ascending=[False, True, False]).drop_duplicates(key)
    places = table.drop_duplicates(key)[key]  # the order of the summary
    return places.merge(best, on=key)


def ratio(rows: pd.DataFrame) -> tuple[float, str]:
    """Median timesteps of the quickest baseline of an environment by those of POWR, and its class.

    A baseline whose median is never needs more timesteps than its training had.
    """
    powr, others = rows[rows["kind"] == POWR], rows[rows["kind"] != POWR]
    if powr.empty or others.empty:
        return math.nan, ""
    needed = others["median"].where(np.isfinite(others["median"]), others["timesteps"])
    return needed.min() / powr["median"].iloc[0], others.loc[needed.idxmin(), "class"]


def ratios(shown: pd.DataFrame) -> list[float]:
    """That ratio on each environment."""
    return [ratio(rows)[0] for _, rows in shown.groupby("environment", sort=False)]


def cost(combinations: Sequence[Combination], training: pd.DataFrame) -> pd.DataFrame:
    """What the finished runs of each algorithm on each environment took, one core per run."""
    runs_of = dict(iter(training.groupby(["environment", "algorithm"])))
    rows = []
    for each in combinations:
        budget = planned_grid(each.settings)[-1]
        row = {"environment": each.environment, "algorithm": each.algorithm, "runs": 0}
        row |= {"timesteps": budget}
        if (each.environment, each.algorithm) in runs_of:
            runs = runs_of[each.environment, each.algorithm]
            evaluating = sum(runs["evaluation_seconds"])
            learning = sum(runs["seconds"] - runs["evaluation_seconds"])
            row |= {
                "runs": len(runs),
                "timesteps_per_second": len(runs) * budget / learning,
                "evaluation_share": evaluating / (learning + evaluating),
                "wall_hours": sum(runs["seconds"]) / 3600,
                "peak_memory_mb": max(runs["peak_memory_bytes"]) / 1e6,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def cost_text(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of cost.csv on one environment to read, the head first."""
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


def duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
