"""The cards of report.html: a sentence of the paper, its verdicts, a small chart and its cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode
from xml.etree import ElementTree

import pandas as pd
from markupsafe import Markup

from suite.claims.cells import HOLDS, UNDECIDED
from suite.claims.document import Document
from suite.claims.judge import Case
from suite.claims.page import title
from suite.claims.words import IN_PART, MARKS, seen
from suite.readme import SHOWN

NOT_RUN = "not run"

# Sizes of a chart in units of its view box.
WIDTH, LINE, GAP, TOP, BOTTOM = 400, 13, 9, 4, 18
LEFT, RIGHT = 98, 318  # ends of the axis; names stand to its left, the effect to its right
NAMES = {
    "ratio of timesteps to threshold": (
        "Timesteps of a baseline divided by POWR's, one dot per baseline; right of 1, POWR needs "
        "fewer. An arrow: the baseline never gets there, at least this much."
    ),
    "difference of returns": (
        "Comparisons with the four baselines at 1,000, 3,162, 10,000 ... timesteps: how many are "
        "significantly higher (full colour), undecided (pale) and significantly lower (red)."
    ),
    "difference of band widths, share of the range": (
        "Width of POWR's band over seeds minus a baseline's, as a share of the range of returns; "
        "right of 0, POWR is less stable."
    ),
    "ratio of standard deviations": (
        "Standard deviation of POWR's timesteps divided by a baseline's, one dot per baseline that "
        "gets there; left of 1, POWR varies less."
    ),
    "coefficient of variation": (
        "Standard deviation of POWR's timesteps divided by their mean, with its 95% interval; it "
        "counts as stable left of the line."
    ),
    "share of runs": "How many seeds reach the return.",
}


class Dot(NamedTuple):
    value: float
    text: str
    is_bound: bool = False


class Line(NamedTuple):
    """One case of one group: dots on an axis or lengths of a bar."""

    case: int
    label: str
    dots: Sequence[Dot] = ()
    bar: Sequence[tuple[str, float]] = ()  # class and share of the whole
    interval: tuple[float, float] | None = None


class Axis(NamedTuple):
    low: float
    high: float
    reference: float | None
    is_log: bool = False

    def x(self, value: float) -> float:
        low, high, value = (
            (math.log10(each) if self.is_log else each) for each in (self.low, self.high, value)
        )
        return LEFT + (RIGHT - LEFT) * min(max((value - low) / (high - low), 0), 1)

    def ticks(self) -> list[float]:
        if self.is_log:
            ends = round(math.log10(self.low)), round(math.log10(self.high))
            step = 1 if ends[1] - ends[0] < 5 else 2
            return [10.0**power for power in range(ends[0], ends[1] + 1, step)]
        return [self.low + (self.high - self.low) * i / 4 for i in range(5)]


def shown_cases(document: Document) -> list[str]:
    return [title(document, case) for case in SHOWN]


def describe(
    document: Document, cells: pd.DataFrame, comparisons: pd.DataFrame
) -> list[dict[str, Any]]:
    """What the template shows of each sentence."""
    cards = []
    for name, sentence in document.sentences.items():
        own = cells[cells["sentence"] == name]
        compared = comparisons[comparisons["sentence"] == name]
        is_judged = own["effect"].notna().any()
        cards.append(
            {
                "id": name,
                "sentence": sentence,
                "marks": [mark_of(select(own, case)) for case in SHOWN],
                "seen": seen(own, compared, SHOWN) if is_judged else "Nothing yet: not run.",
                "chart": draw(compared, sentence.parameters, document.level),
                "cells": list(cell_rows(document, own)),
                "view": urlencode(
                    [("threshold", f"{key}:{value:g}") for key, value in sentence.cells.items()]
                ),
            }
        )
    return cards


def select(table: pd.DataFrame, case: Case) -> pd.DataFrame:
    return table[(table["protocol"] == case.protocol) & (table["settings"] == case.settings)]


def word_of(cell: Any) -> str:
    """The verdict on a cell, or that its runs are missing."""
    is_missing = cell.verdict == UNDECIDED and str(cell.reason).startswith("no run of")
    return NOT_RUN if is_missing else cell.verdict


def mark_of(cells: pd.DataFrame) -> tuple[str, str, str]:
    """Of the cells of a case: the class of its badge, a sign, and words."""
    places: dict[str, list[str]] = {}
    for cell in cells.itertuples():
        places.setdefault(word_of(cell), []).append(cell.environment)
    if len(places) == 1:
        (word,) = places
        return word.replace(" ", "-"), MARKS.get(word, "–"), word
    words = "; ".join(f"{word} on {', '.join(where)}" for word, where in places.items())
    if HOLDS in places:
        return IN_PART.replace(" ", "-"), MARKS[IN_PART], words
    return UNDECIDED, MARKS[UNDECIDED], words


def cell_rows(document: Document, cells: pd.DataFrame) -> Iterator[Sequence[str]]:
    yield (
        "starts; baselines",
        "environment",
        "verdict",
        "effect",
        "95% interval",
        "exact p",
        "policy",
    )
    for cell in cells.itertuples():
        case = Case(cell.protocol, cell.settings)
        has_value = cell.value == cell.value
        effect = "; ".join(text for text in (cell.effect, cell.reason) if isinstance(text, str))
        yield (
            title(document, case),
            f"{cell.environment} at {cell.threshold:g}",
            word_of(cell),
            effect,
            f"{number(cell.low)} to {number(cell.high)}" if cell.low == cell.low else "",
            f"{cell.p_for:.2g}" if cell.p_for == cell.p_for else "",
            str(cell.policy) if has_value else "",
        )


def number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


# -- charts ----------------------------------------------------------------------------------------


def draw(comparisons: pd.DataFrame, parameters: Mapping[str, Any], level: float) -> dict[str, Any]:
    """The chart of a sentence, its explanation, and which cases it shows."""
    shown = comparisons[
        [
            Case(*each) in SHOWN
            for each in zip(comparisons["protocol"], comparisons["settings"], strict=True)
        ]
    ]
    if shown.empty:
        return {"svg": "", "caption": "", "cases": []}
    statistic = shown["statistic"].iloc[0].partition(" at ")[0]
    groups = "subject" if statistic == "share of runs" else "environment"
    lines = {
        str(group): [
            line_of(i, select(rows, case), statistic, level)
            for i, case in enumerate(SHOWN)
            if len(select(rows, case))
        ]
        for group, rows in shown.groupby(groups, sort=False)
    }
    caption = NAMES[statistic]
    return {
        "svg": svg(lines, axis_of(shown, statistic, parameters), caption),
        "caption": caption,
        "cases": sorted({line.case for each in lines.values() for line in each}),
    }


def line_of(case: int, rows: pd.DataFrame, statistic: str, level: float) -> Line:
    first = rows.iloc[0]
    if statistic == "share of runs":
        return Line(case, first["seeds"], bar=[("full", first["value"])])
    if statistic == "difference of returns":
        higher, lower = (rows["p_for"] <= level).sum(), (rows["p_against"] <= level).sum()
        rest = len(rows) - higher - lower
        counts = [("full", higher), ("pale", rest), ("lower", lower)]
        return Line(
            case, f"{higher} / {rest} / {lower}", bar=[(kind, n / len(rows)) for kind, n in counts]
        )
    dots = [
        Dot(row.value, f"{row.subject}: {number(row.value)}", bool(row.is_bound))
        for row in rows.itertuples()
    ]
    at_least = "≥ " if first["is_bound"] else ""
    share = "band widths" in statistic
    value = f"{first['value']:+.0%}" if share else number(first["value"])
    label = f"{at_least}{value}"
    if statistic == "coefficient of variation":
        return Line(case, label, dots, interval=(first["low"], first["high"]))
    return Line(case, f"{label} {first['subject']}", dots)


def axis_of(rows: pd.DataFrame, statistic: str, parameters: Mapping[str, Any]) -> Axis | None:
    """None for bars."""
    if statistic.startswith("ratio"):
        values = [*rows["value"], 1.0]
        ends = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return Axis(10.0 ** ends[0], 10.0 ** max(ends[1], ends[0] + 1), 1, is_log=True)
    if "band widths" in statistic:
        largest = math.ceil(10 * rows["value"].abs().max()) / 10 or 0.1
        return Axis(-largest, largest, 0)
    if statistic == "coefficient of variation":
        largest = max(rows["value"].max(), rows["high"].max(), 0.25)
        return Axis(0, math.ceil(4 * largest) / 4, parameters["largest_variation"])
    return None


def svg(groups: Mapping[str, Sequence[Line]], axis: Axis | None, caption: str) -> Markup:
    height = TOP + sum(LINE * len(lines) + GAP for lines in groups.values()) + BOTTOM * bool(axis)
    root = ElementTree.Element(
        "svg", {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "aria-label": caption}
    )

    def add(tag: str, text: str = "", **attributes: Any) -> ElementTree.Element:
        names = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
        element = ElementTree.SubElement(root, tag, names)
        element.text = text or None
        return element

    if axis:
        for tick in axis.ticks():
            add("line", class_="grid", x1=axis.x(tick), x2=axis.x(tick), y1=TOP, y2=height - BOTTOM)
            add("text", f"{tick:g}", class_="tick", x=axis.x(tick), y=height - 5)
        if axis.reference is not None:
            x = axis.x(axis.reference)
            add("line", class_="reference", x1=x, x2=x, y1=TOP, y2=height - BOTTOM)
    y = TOP + LINE / 2
    for name, lines in groups.items():
        add("text", name, class_="name", x=0, y=y + LINE * (len(lines) - 1) / 2)
        for line in lines:
            add("text", line.label, class_="value", x=RIGHT + 10, y=y)
            x = LEFT
            for kind, share in line.bar:
                width = share * (RIGHT - LEFT)
                add("rect", class_=f"case-{line.case} {kind}", x=x, y=y - 4, width=width, height=8)
                x += width
            if line.bar:
                add("rect", class_="frame", x=LEFT, y=y - 4, width=RIGHT - LEFT, height=8)
            if axis and line.interval:
                ends = dict(zip(("x1", "x2"), map(axis.x, line.interval), strict=True))
                add("line", class_=f"case-{line.case} interval", y1=y, y2=y, **ends)
            for dot in line.dots if axis else ():
                x, css = axis.x(dot.value), f"case-{line.case} dot"
                if dot.is_bound:
                    points = f"{x - 3},{y - 4} {x + 5},{y} {x - 3},{y + 4}"
                    element = add("polygon", class_=css, points=points)
                else:
                    element = add("circle", class_=css, cx=x, cy=y, r=3.5)
                ElementTree.SubElement(element, "title").text = dot.text
            y += LINE
        y += GAP
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704, escaped by XML
