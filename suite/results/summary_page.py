"""summary.md: the summary table to read, and where the results came from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from suite import markdown
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
    "cases with seven seeds of a normal distribution; score and area are IQMs too. No interval is "
    f"given for fewer than {FEWEST_SEEDS_FOR_INTERVAL} seeds, whose whole range misses the median "
    "in more than 5% of cases. The exact return is that of the final policy by dynamic "
    "programming; its score is 0 for the uniform policy and 1 for the optimum. A score can be high "
    "although nothing was learned: on Taxi-v3 the uniform policy is fined for many of its steps, "
    "and one that never picks anyone up is not. The area is the average return over log timesteps. "
    "It begins after the last of the first updates of POWR and the baselines with library defaults "
    "and ends at the last timestep that these share; an algorithm that does not learn over all of "
    "it has none."
)

OVERVIEW_TITLE = "Runs that met the threshold, and the median of all runs' timesteps to it:"

PLAYED_ESTIMATES = {
    "final return [min, max]": ("final_mean", "final_min", "final_max"),
    "IQM": ("final_iqm", "final_iqm_low", "final_iqm_high"),
}
EXACT_ESTIMATES = {
    "exact return [min, max]": ("exact_mean", "exact_min", "exact_max"),
    "score": ("normalised_iqm", "normalised_iqm_low", "normalised_iqm_high"),
}


class Origin(NamedTuple):
    """An environment that results came from; runs load different packages of it."""

    commit: str
    python: str
    platform: str
    processor: str


def find_origins(provenances: Iterable[Mapping[str, Any]]) -> dict[Origin, dict[str, Any]]:
    """The distinct origins of runs, each with its number of runs and all versions of packages."""
    origins: dict[Origin, dict[str, Any]] = {}
    for provenance in provenances:
        key = Origin(
            _commit(provenance["git"]),
            provenance["python"],
            provenance["platform"],
            provenance["cpu"],
        )
        found = origins.setdefault(key, {"runs": 0, "packages": {}})
        found["runs"] += 1
        for name, version in provenance["packages"].items():
            found["packages"].setdefault(name, set()).add(version)
    return dict(sorted(origins.items()))


def _commit(git: Mapping[str, Any] | None) -> str:
    if git is None:
        return "outside a repository"
    return git["commit"][:12] + ("" if git["clean"] else " with local changes")


def render(
    summary: pd.DataFrame,
    scale: str,
    missing: Sequence[str],
    origins: Mapping[Origin, Mapping[str, Any]],
) -> str:
    """The summary as Markdown, ending with the environments that the results came from."""
    planned = summary.drop_duplicates(["environment", "algorithm", "policy"])
    planned = planned[planned["policy"] == "deterministic"]
    runs, due = planned["seeds"].sum(), planned["seeds_planned"].sum()
    parts = [f"# Results at the scale {scale}", f"{runs} of {due} runs."]
    if missing:
        parts[-1] += f" `snakemake --cores N --config scale={scale}` trains the others."
    parts += [OVERVIEW_TITLE, markdown.table(overview(summary))]
    if missing:
        listed = "\n".join(f"- `{path}`" for path in missing)
        parts.append(f"<details><summary>Missing runs</summary>\n\n{listed}\n\n</details>")
    for environment, rows in summary.groupby("environment", sort=False):
        parts += [f"## {environment}", *map(markdown.table, (times(rows), returns(rows)))]
        parts += filter(None, [bounds_text(rows)])
    parts += ["## How to read it", LEGEND]
    parts += ["## Where the results came from", _origins_table(origins)]
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
    table: list[tuple[str, ...]] = [
        (
            "algorithm",
            "threshold",
            "reached",
            "median of first arrivals",
            "earliest .. latest",
            "reached and stayed",
            "median of lasting arrivals",
        )
    ]
    for row in rows.to_dict("records"):
        cells = (
            (
                f"{row['n_reached']} of {row['seeds']}",
                _median(row, "timesteps_to_threshold") if row["n_reached"] else "never",
                _range(row),
                f"{row['n_lasting']} of {row['seeds']}",
                _median(row, "timesteps_to_lasting") if row["n_lasting"] else "never",
            )
            if row["seeds"]
            else ["no run"] * 5
        )
        table.append((algorithm_text(row), f"{row['threshold']:g}", *cells))
    return table


def _median(row: Mapping[str, Any], name: str) -> str:
    """A median with its interval; without a lower end there is none."""
    interval = _interval(row[f"{name}_low"], row[f"{name}_high"], lambda time: _time(row, time))
    return _time(row, row[name]) + interval


def _range(row: Mapping[str, Any]) -> str:
    if not row["n_reached"]:
        return f"never within {row['timesteps']:,}"
    return f"{_time(row, row['earliest'])} .. {_time(row, row['latest'])}"


def _time(row: Mapping[str, Any], timestep: float) -> str:
    return f"> {row['timesteps']:,}" if math.isnan(timestep) else f"{timestep:,.0f}"


def returns(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Returns of one environment as a table to read, its head first."""
    first = rows.iloc[0]
    columns = {**PLAYED_ESTIMATES, **(EXACT_ESTIMATES if _has_bounds(rows) else {})}
    columns[f"area from {first['area_from']:,} to {first['area_until']:,}"] = (
        "area_iqm",
        "area_iqm_low",
        "area_iqm_high",
    )
    table = [("algorithm", "timesteps", *columns)]
    for row in rows.drop_duplicates(["algorithm", "policy"]).to_dict("records"):
        absent = "none" if row["seeds"] else "no run"
        estimates = (_estimate(row, *names, absent) for names in columns.values())
        table.append((algorithm_text(row), f"{row['timesteps']:,}", *estimates))
    return table


def bounds_text(rows: pd.DataFrame) -> str:
    """Between what the exact returns of an environment lie, if that is known."""
    if not _has_bounds(rows):
        return ""
    first = rows.iloc[0]
    return (
        f"Exact return of the optimum: {_number(first['optimum'])}; "
        f"of the uniform policy: {_number(first['uniform'])}."
    )


def _has_bounds(rows: pd.DataFrame) -> bool:
    return not math.isnan(rows.iloc[0]["optimum"])


def _estimate(row: Mapping[str, Any], value: str, low: str, high: str, absent: str) -> str:
    if math.isnan(row.get(value, math.nan)):
        return absent
    return _number(row[value]) + _interval(row[low], row[high], _number)


def _interval(low: float, high: float, text: Callable[[float], str]) -> str:
    return "" if math.isnan(low) else f" [{text(low)}, {text(high)}]"


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # adding zero turns -0.00 into 0.00


def algorithm_text(row: Mapping[str, Any]) -> str:
    """The name of a row's algorithm, and its policy if that is sampled."""
    sampled = " (sampled)" if row["policy"] == "sampled" else ""
    return algorithm_name(row["algorithm"]) + sampled


def _origins_table(origins: Mapping[Origin, Mapping[str, Any]]) -> str:
    table = [("runs", "commit", "Python", "platform", "processor", "packages")]
    for origin, found in origins.items():
        packages = ", ".join(
            f"{name} {' and '.join(sorted(found['packages'][name]))}"
            for name in sorted(found["packages"], key=str.lower)
        )
        table.append((str(found["runs"]), *origin, packages))
    return markdown.table(table)
