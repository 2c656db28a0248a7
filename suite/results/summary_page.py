"""summary.md: the summary table to read, and where the results came from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from suite import markdown
from suite.config import Run
from suite.names import algorithm_name
from suite.results.statistics import median_coverage
from suite.results.summary import FEWEST_SEEDS_FOR_INTERVAL

LEGEND = (
    "First arrival is the first evaluation whose mean return is at or above the threshold. Lasting "
    "arrival is the first one from which on at most one evaluation in twenty falls below it; it "
    "says little if it is among the last of its run. A run that never arrives counts as later than "
    "all others (`>` its timesteps); none is dropped. The interval of a median is that of the "
    "order statistics that cover it in 95% of cases or more; with seven seeds it reaches from the "
    f"first run to the last and covers it in {median_coverage(7):.1%}. IQM is the interquartile "
    "mean over seeds with its 95% percentile bootstrap interval, which holds the truth in 91% of "
    "cases with seven seeds of a normal distribution. No interval is given for fewer than "
    f"{FEWEST_SEEDS_FOR_INTERVAL} seeds, whose whole range misses the median in more than 5% of "
    "cases. The exact return is that of the final policy by dynamic programming."
)
OVERVIEW_TITLE = "Runs that met the threshold, and the median of all runs' timesteps to it:"


def render(
    summary: pd.DataFrame,
    scale: str,
    missing: Sequence[Run],
    origins: pd.DataFrame,
) -> str:
    """The summary as Markdown, ending with the environments that the results came from."""
    planned = summary[summary["policy"] == "deterministic"]
    planned = planned.drop_duplicates(["environment", "algorithm"])
    runs, due = planned["seeds"].sum(), planned["seeds_planned"].sum()
    again = f" `snakemake --cores N --config scale={scale}` trains the others." if missing else ""
    parts = [f"# Results at the scale {scale}", f"{runs} of {due} runs.{again}"]
    parts += [OVERVIEW_TITLE, markdown.table(overview(summary))]
    if missing:
        listed = "\n".join(f"- `{run.path}`" for run in missing)
        parts.append(f"<details><summary>Missing runs</summary>\n\n{listed}\n\n</details>")
    for environment, rows in summary.groupby("environment", sort=False):
        parts += [f"## {environment}", *map(markdown.table, (times(rows), returns(rows)))]
        parts += filter(None, [bounds_text(rows)])
    table = [origins.columns, *origins.astype(str).itertuples(index=False)]
    parts += ["## How to read it", LEGEND]
    parts += ["## Where the results came from", markdown.table(table)]
    return "\n\n".join(parts) + "\n"


def overview(summary: pd.DataFrame) -> list[tuple[str, ...]]:
    """The first threshold of every environment side by side, the head first."""
    columns = {}
    for environment, rows in summary.groupby("environment", sort=False):
        first = rows[rows["threshold"] == rows["threshold"].iloc[0]].to_dict("records")
        title = f"{environment}, return {first[0]['threshold']:g}"
        columns[title] = {algorithm_text(row): _arrivals(row) for row in first}
    algorithms = dict.fromkeys(name for cells in columns.values() for name in cells)
    body = [(name, *(cells.get(name, "") for cells in columns.values())) for name in algorithms]
    return [("algorithm", *columns), *body]


def _arrivals(row: Mapping[str, Any]) -> str:
    if not row["seeds"]:
        return "no run"
    reached = f"{row['n_reached']} of {row['seeds']}"
    return f"{reached}: {_median(row, 'timesteps_to_threshold')}" if row["n_reached"] else reached


def times(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Timesteps to threshold of one environment as a table to read, its head first."""
    head = ("algorithm", "threshold", "reached", "median of first arrivals", "earliest .. latest")
    table: list[tuple[str, ...]] = [(*head, "reached and stayed", "median of lasting arrivals")]
    for row in rows.to_dict("records"):
        cells = ["no run"] * 5
        if row["seeds"]:
            cells = [
                f"{row['n_reached']} of {row['seeds']}",
                _median(row, "timesteps_to_threshold") if row["n_reached"] else "never",
                f"{_time(row, row['earliest'])} .. {_time(row, row['latest'])}"
                if row["n_reached"]
                else f"never within {row['timesteps']:,}",
                f"{row['n_lasting']} of {row['seeds']}",
                _median(row, "timesteps_to_lasting") if row["n_lasting"] else "never",
            ]
        table.append((algorithm_text(row), f"{row['threshold']:g}", *cells))
    return table


def _median(row: Mapping[str, Any], name: str) -> str:
    return _estimate(row, (name, f"{name}_low", f"{name}_high"), lambda time: _time(row, time))


def _time(row: Mapping[str, Any], timestep: float) -> str:
    return f"> {row['timesteps']:,}" if math.isnan(timestep) else f"{timestep:,.0f}"


def returns(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Returns of one environment as a table to read, its head first."""
    columns = {
        "final return [min, max]": ("final_mean", "final_min", "final_max"),
        "IQM": ("final_iqm", "final_iqm_low", "final_iqm_high"),
    }
    if not math.isnan(rows.iloc[0]["optimum"]):
        columns["exact return [min, max]"] = ("exact_mean", "exact_min", "exact_max")
    table = [("algorithm", "timesteps", *columns)]
    for row in rows.drop_duplicates(["algorithm", "policy"]).to_dict("records"):
        absent = "none" if row["seeds"] else "no run"
        estimates = (
            absent if math.isnan(row.get(names[0], math.nan)) else _estimate(row, names, _number)
            for names in columns.values()
        )
        table.append((algorithm_text(row), f"{row['timesteps']:,}", *estimates))
    return table


def bounds_text(rows: pd.DataFrame) -> str:
    """Between what the exact returns of an environment lie, if that is known."""
    uniform, optimum = rows.iloc[0][["uniform", "optimum"]]
    if math.isnan(optimum):
        return ""
    return (
        f"Exact return of the optimum: {_number(optimum)}; "
        f"of the uniform policy: {_number(uniform)}."
    )


def _estimate(
    row: Mapping[str, Any], columns: tuple[str, str, str], text: Callable[[float], str]
) -> str:
    """A value with its interval, if there is one."""
    value, low, high = (row[column] for column in columns)
    return text(value) + ("" if math.isnan(low) else f" [{text(low)}, {text(high)}]")


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # adding zero turns -0.00 into 0.00


def algorithm_text(row: Mapping[str, Any]) -> str:
    """The name of a row's algorithm, and its policy if that is sampled."""
    sampled = " (sampled)" if row["policy"] == "sampled" else ""
    return algorithm_name(row["algorithm"]) + sampled
