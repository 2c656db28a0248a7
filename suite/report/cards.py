"""The cards of report.html: a sentence of the paper, its verdicts, a small chart and its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pandas as pd

from suite.claims.document import Case, Document, Sentence
from suite.claims.page import MARKS, SHOWN, Tables, of_case, of_sentence, seen, word_of
from suite.claims.rules import UNDECIDED

NOT_RUN = "not run"
EMPTY_LINE: dict[str, Any] = {"bar": [], "dots": [], "interval": None}
BARS = ("share of runs", "difference of returns")


class Axis(NamedTuple):
    ticks: list[float]  # from its low end to its high one
    reference: float  # where the statement begins to hold
    is_log: bool = False

    def x(self, value: float, left: float, right: float) -> float:
        """The place of a value between the ends of the axis, at the nearest end if beyond."""
        numbers = (self.ticks[0], self.ticks[-1], value)
        low, high, value = map(math.log10, numbers) if self.is_log else numbers
        return round(left + (right - left) * min(max((value - low) / (high - low), 0), 1), 1)


def describe(document: Document, tables: Tables) -> list[dict[str, Any]]:
    """What the template shows of each sentence."""
    cards = []
    for name, sentence in document.sentences.items():
        names = ("cells", "comparisons", "sentences")
        cells, comparisons, verdicts = of_sentence(tables, name, *names)
        is_run = cells["effect"].notna().any()
        text = seen(cells, comparisons, document.level) if is_run else f"nothing: {NOT_RUN}"
        thresholds = [("threshold", f"{key}:{value:g}") for key, value in sentence.cells.items()]
        by_case = cells.groupby(["protocol", "settings"], sort=False)
        cards.append(
            {
                "id": name,
                "sentence": sentence,
                "marks": [mark_of(of_case(cells, case), of_case(verdicts, case)) for case in SHOWN],
                "seen": ("Where it holds" if text.startswith("holds") else "Seen", text),
                "chart": chart(comparisons, sentence, document.level),
                "cells": [
                    (document.title(Case(*case)), [cell_row(cell) for cell in rows.itertuples()])
                    for case, rows in by_case
                ],
                "view": urlencode(thresholds),
            }
        )
    return cards


def cell_verdict(cell: Any) -> str:
    """The verdict on a cell, or that its runs are missing."""
    is_missing = cell.verdict == UNDECIDED and str(cell.reason).startswith("no run of")
    return NOT_RUN if is_missing else cell.verdict


def mark_of(cells: pd.DataFrame, verdicts: pd.DataFrame) -> dict[str, str]:
    """Of a sentence in one case: a sign, its word, and details where environments differ."""
    where: dict[str, list[str]] = {}
    for cell in cells.itertuples():
        where.setdefault(cell_verdict(cell), []).append(cell.environment)
    if list(where) == [NOT_RUN]:
        return {"word": NOT_RUN, "sign": "–", "details": ""}
    word = word_of(verdicts["verdict"].item())
    parts = [f"{key} on {', '.join(where[key])}" for key in (*MARKS, NOT_RUN) if key in where]
    details = "; ".join(parts) if len(parts) > 1 else ""
    return {"word": word, "sign": MARKS[word], "details": details}


def cell_row(cell: Any) -> list[str]:
    """Place, verdict, and the effect with its uncertainty."""
    parts = [text for text in (cell.effect, cell.reason) if isinstance(text, str)]
    if not math.isnan(cell.low):
        parts.append(f"95% interval {number(cell.low)} to {number(cell.high)}")
    if not math.isnan(cell.p_for):
        parts.append(f"exact p {cell.p_for:.2g}")
    if isinstance(cell.policy, str):
        parts.append(f"{cell.policy} policy")
    return [f"{cell.environment} at {cell.threshold:g}", cell_verdict(cell), "; ".join(parts)]


def number(value: float, digits: int = 3) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def chart(comparisons: pd.DataFrame, sentence: Sentence, level: float) -> dict[str, Any]:
    """What the template draws of a sentence: its groups with a line per case; none without runs."""
    shown = pd.concat(of_case(comparisons, case) for case in SHOWN)
    if shown.empty:
        return {}
    statistic = shown["statistic"].iloc[0].partition(" at ")[0]
    column = "subject" if statistic == "share of runs" else "environment"
    names = shown[column].unique() if column == "subject" else sentence.cells
    groups = {
        name: [
            {**EMPTY_LINE, "case": place, **line_of(rows, statistic, level)}
            for place, case in enumerate(SHOWN)
            if len(rows := of_case(shown[shown[column] == name], case))
        ]
        for name in names
    }
    return {
        "groups": {name: lines for name, lines in groups.items() if lines},
        "axis": axis_of(shown, statistic, sentence.parameters),
        "statistic": statistic,
    }


def line_of(rows: pd.DataFrame, statistic: str, level: float) -> dict[str, Any]:
    """Dots on an axis, or a bar of colours and shares of the whole."""
    first = rows.iloc[0]
    if statistic == "share of runs":
        return {"label": first["seeds"], "bar": [("full", first["value"])]}
    if statistic == "difference of returns":
        higher, lower = (int((rows[p] <= level).sum()) for p in ("p_for", "p_against"))
        counts = {"full": higher, "pale": len(rows) - higher - lower, "lower": lower}
        bar = [(kind, count / len(rows)) for kind, count in counts.items()]
        return {"label": " / ".join(map(str, counts.values())), "bar": bar}
    dots = [
        {
            "value": row.value,
            "is_bound": pd.notna(row.bound),
            "title": f"{row.subject}: {number(row.value)}",
        }
        for row in rows.itertuples()
    ]
    is_share = "band widths" in statistic
    value = f"{first['value']:+.0%}" if is_share else number(first["value"], 2)
    if statistic == "coefficient of variation":
        return {"label": value, "dots": dots, "interval": (first["low"], first["high"])}
    sign = {"at least": "≥ ", "at most": "≤ "}.get(first["bound"], "")
    return {"label": f"{sign}{value} {first['subject']}", "dots": dots}


def axis_of(rows: pd.DataFrame, statistic: str, parameters: Mapping[str, Any]) -> Axis | None:
    """None for bars."""
    if statistic in BARS:
        return None
    if statistic.startswith("ratio"):
        values = [*rows["value"], 1.0]
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return Axis([10.0**power for power in range(low, max(high, low + 1) + 1)], 1, is_log=True)
    if "band widths" in statistic:
        step = round_step(rows["value"].abs().max() / 2)
        return Axis([step * i for i in range(-2, 3)], 0)
    limit = parameters["largest_variation"]
    step = round_step(max(limit, *rows["value"], *rows["high"].dropna()) / 4)
    return Axis([step * i for i in range(5)], limit)


def round_step(least: float) -> float:
    """The next round number, for ticks."""
    return next(each for each in (0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, math.inf) if each >= least)
