"""The cards of report.html: a sentence of the paper, its verdicts, a small chart and its cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode
from xml.etree import ElementTree

import pandas as pd
from markupsafe import Markup

from suite.claims.cells import UNDECIDED
from suite.claims.document import Document
from suite.claims.judge import Case
from suite.claims.page import title
from suite.claims.words import IN_PART, MARKS, only, places, seen
from suite.readme import SHOWN

NOT_RUN = "not run"

# Sizes of a chart in units of its view box.
WIDTH, LINE, GAP, TOP, BOTTOM = 400, 14, 9, 4, 19
LEFT, RIGHT = 106, 318  # ends of the axis; names stand to its left, the effect to its right
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


class Mark(NamedTuple):
    word: str
    sign: str
    details: str  # by environment, where these differ


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
    reference: float  # where the statement begins to hold
    is_log: bool = False

    def x(self, value: float) -> float:
        low, high, value = (
            (math.log10(each) if self.is_log else each) for each in (self.low, self.high, value)
        )
        return LEFT + (RIGHT - LEFT) * min(max((value - low) / (high - low), 0), 1)

    def ticks(self) -> list[float]:
        if self.is_log:
            ends = round(math.log10(self.low)), round(math.log10(self.high))
            return [10.0**power for power in range(ends[0], ends[1] + 1)]
        return [self.low + (self.high - self.low) * i / 4 for i in range(5)]


def shown_cases(document: Document) -> list[str]:
    return [title(document, case) for case in SHOWN]


def describe(
    document: Document, cells: pd.DataFrame, comparisons: pd.DataFrame, sentences: pd.DataFrame
) -> list[dict[str, Any]]:
    """What the template shows of each sentence."""
    cards = []
    for name, sentence in document.sentences.items():
        own, compared, verdicts = (
            table[table["sentence"] == name] for table in (cells, comparisons, sentences)
        )
        text = seen(own, compared, SHOWN) if own["effect"].notna().any() else f"nothing: {NOT_RUN}"
        is_where = text == places(only(own, SHOWN), SHOWN)
        cards.append(
            {
                "id": name,
                "sentence": sentence,
                "marks": [mark_of(select(own, case), select(verdicts, case)) for case in SHOWN],
                "seen": ("Where it holds" if is_where else "Seen", text),
                "chart": draw(compared, sentence.parameters, document.level, list(sentence.cells)),
                "cells": list(cell_groups(document, own)),
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


def mark_of(cells: pd.DataFrame, verdicts: pd.DataFrame) -> Mark:
    """Of a sentence in one case."""
    where: dict[str, list[str]] = {}
    for cell in cells.itertuples():
        where.setdefault(word_of(cell), []).append(cell.environment)
    if list(where) == [NOT_RUN]:
        return Mark(NOT_RUN, "–", "")
    (verdict,) = verdicts["verdict"]
    word = verdict if verdict in MARKS else IN_PART
    details = "; ".join(
        f"{each} on {', '.join(where[each])}" for each in (*MARKS, NOT_RUN) if each in where
    )
    return Mark(word, MARKS[word], details if len(where) > 1 else "")


def cell_groups(document: Document, cells: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """Rows of a table to read, by case: place, verdict, and the effect with its uncertainty."""
    for case, rows in cells.groupby(["protocol", "settings"], sort=False):
        yield title(document, Case(*case)), [cell_row(cell) for cell in rows.itertuples()]


def cell_row(cell: Any) -> list[str]:
    parts = [text for text in (cell.effect, cell.reason) if isinstance(text, str)]
    if not math.isnan(cell.low):
        parts.append(f"95% interval {number(cell.low)} to {number(cell.high)}")
    if not math.isnan(cell.p_for):
        parts.append(f"exact p {cell.p_for:.2g}")
    if isinstance(cell.policy, str):
        parts.append(f"{cell.policy} policy")
    return [f"{cell.environment} at {cell.threshold:g}", word_of(cell), "; ".join(parts)]


def number(value: float, digits: int = 3) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


# -- charts ----------------------------------------------------------------------------------------


def draw(
    comparisons: pd.DataFrame,
    parameters: Mapping[str, Any],
    level: float,
    environments: Sequence[str],
) -> dict[str, Any]:
    """The chart of a sentence with its explanation; without a comparison there is none."""
    shown = comparisons[
        [Case(*each) in SHOWN for each in comparisons[["protocol", "settings"]].to_numpy()]
    ]
    if shown.empty:
        return {"svg": "", "caption": ""}
    statistic = shown["statistic"].iloc[0].partition(" at ")[0]
    column = "subject" if statistic == "share of runs" else "environment"
    names = shown[column].unique() if column == "subject" else environments
    lines = {
        name: [
            line_of(i, rows, statistic, level)
            for i, case in enumerate(SHOWN)
            if len(rows := select(shown[shown[column] == name], case))
        ]
        for name in names
    }
    lines = {name: each for name, each in lines.items() if each}
    caption = NAMES[statistic]
    return {
        "svg": svg(lines, axis_of(shown, statistic, parameters), caption),
        "caption": caption,
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
    value = f"{first['value']:+.0%}" if share else number(first["value"], 2)
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
        largest = 2 * step(rows["value"].abs().max() / 2)
        return Axis(-largest, largest, 0)
    if statistic == "coefficient of variation":
        limit = parameters["largest_variation"]
        return Axis(0, 4 * step(max(limit, *rows["value"], *rows["high"].dropna()) / 4), limit)
    return None


def step(least: float) -> float:
    """The next round number, for ticks."""
    return next(each for each in (0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, math.inf) if each >= least)


def svg(groups: Mapping[str, Sequence[Line]], axis: Axis | None, caption: str) -> Markup:
    height = TOP + sum(LINE * len(lines) + GAP for lines in groups.values()) + BOTTOM * bool(axis)
    root = ElementTree.Element(
        "svg", {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "aria-label": caption}
    )
    if axis:
        draw_axis(root, axis, height)
    y = TOP + LINE / 2
    for name, lines in groups.items():
        add(root, "text", "name", name, x=0, y=y + LINE * (len(lines) - 1) / 2)
        for line in lines:
            add(root, "text", "value", line.label, x=RIGHT + 10, y=y)
            if axis:
                draw_dots(root, axis, line, y)
            else:
                draw_bar(root, line, y)
            y += LINE
        y += GAP
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704, escaped by XML


def add(
    parent: ElementTree.Element, tag: str, css: str, text: str = "", **places: float | str
) -> ElementTree.Element:
    attributes = {
        name: value if isinstance(value, str) else f"{value:.1f}" for name, value in places.items()
    }
    element = ElementTree.SubElement(parent, tag, {"class": css, **attributes})
    element.text = text or None
    return element


def draw_axis(root: ElementTree.Element, axis: Axis, height: float) -> None:
    for tick in axis.ticks():
        x = axis.x(tick)
        add(root, "line", "grid", x1=x, x2=x, y1=TOP, y2=height - BOTTOM)
        add(root, "text", "tick", f"{tick:g}", x=x, y=height - 5)
    x = axis.x(axis.reference)
    add(root, "line", "reference", x1=x, x2=x, y1=TOP, y2=height - BOTTOM)


def draw_bar(root: ElementTree.Element, line: Line, y: float) -> None:
    x: float = LEFT
    for kind, share in line.bar:
        width = share * (RIGHT - LEFT)
        add(root, "rect", f"case-{line.case} {kind}", x=x, y=y - 4, width=width, height=8)
        x += width
    add(root, "rect", "frame", x=LEFT, y=y - 4, width=RIGHT - LEFT, height=8)


def draw_dots(root: ElementTree.Element, axis: Axis, line: Line, y: float) -> None:
    if line.interval:
        low, high = map(axis.x, line.interval)
        add(root, "line", f"case-{line.case} interval", x1=low, x2=high, y1=y, y2=y)
    for dot in line.dots:
        x, css = axis.x(dot.value), f"case-{line.case} dot"
        if dot.is_bound:
            points = f"{x - 3:.1f},{y - 4} {x + 5:.1f},{y} {x - 3:.1f},{y + 4}"
            element = add(root, "polygon", css, points=points)
        else:
            element = add(root, "circle", css, cx=x, cy=y, r=3.5)
        add(element, "title", "", dot.text)
