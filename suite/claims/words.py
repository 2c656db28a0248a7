"""What was seen, in a few words, and marks of verdicts, for pages and reports.

Made from the tables cells.csv and comparisons.csv.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from suite.claims.cells import FAILS, HOLDS, UNDECIDED
from suite.claims.judge import Case

IN_PART = "in part"
MARKS = {HOLDS: "✔", IN_PART: "◐", FAILS: "✘", UNDECIDED: "?"}
LEVEL = 0.05


def mark(verdict: str) -> str:
    """A sign with its word."""
    word = verdict if verdict in MARKS else IN_PART
    return f"{MARKS[word]} {word}"


def seen(cells: pd.DataFrame, comparisons: pd.DataFrame, shown: Mapping[Case, str]) -> str:
    """About a dozen words on one sentence, from its rows; `shown` names the cases of interest."""
    cells, comparisons = (only(table, shown) for table in (cells, comparisons))
    statistics = set(comparisons["statistic"])
    if "difference of returns" in statistics:
        return lower_at(comparisons)
    if any(each.startswith("share of runs") for each in statistics):
        return counts(cells, shown)
    return places(cells, shown)


def only(table: pd.DataFrame, shown: Mapping[Case, str]) -> pd.DataFrame:
    """The rows of these cases, with the name of each."""
    names = [
        shown.get(Case(*each), "")
        for each in table[["protocol", "settings"]].itertuples(index=False, name=None)
    ]
    return table.assign(case=names).loc[[bool(name) for name in names]]


def lower_at(comparisons: pd.DataFrame) -> str:
    """Where POWR has a significantly lower return than a baseline."""
    lower = comparisons[comparisons["p_against"] <= LEVEL]
    found = []
    for environment, rows in lower.groupby("environment", sort=False):
        timesteps = rows["subject"].str.rpartition(" at ")[2].str.replace(",", "").astype(int)
        ends = sorted({timesteps.min(), timesteps.max()})
        found.append(f"on {environment} at {' to '.join(f'{each:,}' for each in ends)}")
    if not found:
        return "POWR's return is never significantly lower"
    return f"POWR's return is lower {' and '.join(found)} timesteps, nowhere else"


def counts(cells: pd.DataFrame, shown: Mapping[Case, str]) -> str:
    """Seeds that reach the return, by algorithm, in the last two cases; those that agree once."""
    cases: dict[str, list[str]] = {}
    last = cells[cells["case"].isin(list(shown.values())[-2:])]
    for row in last.dropna(subset="effect").itertuples():
        cases.setdefault(short_counts(row.effect), []).append(row.case)
    return ". ".join(f"{' and '.join(names)}: {effect}" for effect, names in cases.items())


def short_counts(effect: str) -> str:
    """POWR, DQN 7 of 7; A2C, PPO, TRPO 0 of 7: algorithms with the same count together."""
    by_count: dict[str, list[str]] = {}
    for part in effect.split(", "):
        name, _, count = part.partition(" ")
        by_count.setdefault(count, []).append(name)
    return "; ".join(f"{', '.join(names)} {count}" for count, names in by_count.items())


def places(cells: pd.DataFrame, shown: Mapping[Case, str]) -> str:
    """On which environments the sentence holds, by case."""
    where: dict[str, list[str]] = {}
    for environment, rows in cells.groupby("environment", sort=False):
        names = list(rows.loc[rows["verdict"] == HOLDS, "case"])
        when = "always" if len(names) == len(shown) else " and ".join(names)
        where.setdefault(when, []).append(str(environment))
    never = where.pop("", [])
    parts = [
        f"on {', '.join(places)}" + (f" with {when}" if when != "always" else "")
        for when, places in where.items()
    ]
    held = f"holds {'; '.join(parts)}" if parts else "holds nowhere"
    return f"{held}; not on {', '.join(never)}" if parts and never else held
