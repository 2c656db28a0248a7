"""The tables of the verdicts: cells.csv, comparisons.csv, sensitivity.csv and sentences.csv."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from suite.claims.cells import Comparison
from suite.claims.document import Theorem
from suite.claims.judge import Judged, verdict_of
from suite.claims.theorems import Outcome
from suite.results.statistics import NO_INTERVAL

DIGITS = 6  # those that another processor computes alike
KEY = ["protocol", "settings", "sentence", "environment", "threshold"]


# Of a cell that rests on no comparison.
NO_NUMBERS = dict.fromkeys(
    (
        *("statistic", "value", "low", "high", "is_bound", "p_for", "p_against"),
        *("improvement", "improvement_low", "improvement_high", "seeds", "policy"),
    ),
    math.nan,
)


def key_of(judged: Judged) -> dict[str, Any]:
    values = (*judged.case, judged.sentence, judged.environment, judged.threshold)
    return dict(zip(KEY, values, strict=True))


def cells(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row per cell; value and interval are those of the comparison that the effect names."""
    return pd.DataFrame(
        {
            **key_of(each),
            "verdict": each.cell.verdict,
            "effect": each.cell.effect,
            "reason": each.cell.reason,
            **(numbers(each.cell.comparisons[0]) if each.cell.comparisons else NO_NUMBERS),
        }
        for each in judged
    )


def comparisons(judged: Sequence[Judged]) -> pd.DataFrame:
    """One row per baseline and cell, or per baseline, checkpoint and cell."""
    rows = [
        {**key_of(each), "subject": found.subject, **numbers(found)}
        for each in judged
        for found in each.cell.comparisons
    ]
    return pd.DataFrame(rows, columns=None if rows else [*KEY, "subject"])  # never without columns


def numbers(found: Comparison) -> dict[str, Any]:
    low, high = found.interval or NO_INTERVAL
    return {
        "statistic": found.statistic,
        "value": rounded(found.value),
        "low": rounded(low),
        "high": rounded(high),
        "is_bound": found.is_bound,
        "p_for": rounded(found.p_for),
        "p_against": rounded(found.p_against),
        "improvement": rounded(found.improvement),
        "improvement_low": rounded(found.improvement_interval.low),
        "improvement_high": rounded(found.improvement_interval.high),
        "seeds": found.seeds,
        "policy": found.policy,
    }


def rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else number


def sensitivity(judged: Sequence[Judged], changed: Sequence[tuple[Judged, str]]) -> pd.DataFrame:
    """One row per cell and changed choice of its rule."""
    printed = {tuple(key_of(each).values()): each.cell.verdict for each in judged}
    return pd.DataFrame(
        {
            **key_of(each),
            "choice": choice,
            "verdict": each.cell.verdict,
            "as_judged": printed[tuple(key_of(each).values())],
            "effect": each.cell.effect,
        }
        for each, choice in changed
    )


def sentences(judged: Sequence[Judged]) -> pd.DataFrame:
    """The verdict on each sentence in each case."""
    ordered = groupby(judged, key=lambda each: (*each.case, each.sentence))
    return pd.DataFrame(
        {**dict(zip(KEY, key, strict=False)), "verdict": verdict_of(list(cells))}
        for key, cells in ordered
    )


def theory(theorems: Sequence[Theorem], found: Mapping[str, Outcome]) -> pd.DataFrame:
    """One row per number that a verdict on the paper's theory rests on."""
    rows = [
        {
            "id": theorem.id,
            "place": theorem.place,
            "verdict": found[theorem.id].verdict,
            "subject": each.subject,
            "statistic": each.statistic,
            "estimate": rounded(each.estimate),
            "low": rounded(each.interval.low),
            "high": rounded(each.interval.high),
            "supports": each.supports,
        }
        for theorem in theorems
        for each in found[theorem.id].findings
    ]
    return pd.DataFrame(rows, columns=None if rows else ["id", "verdict"])
