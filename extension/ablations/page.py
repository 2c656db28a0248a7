"""ablations.md: what each ablation undoes, in a template, and its results, in tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from extension.ablations.tables import CHOICES
from suite.plots.render import number
from suite.results.tables import to_markdown

TABLES = ("ablations", "planners")
TEMPLATES = Path(__file__).parent
MISSING = "–"
MEASURED = ("seeds", "arrived", "first", "lasting", "return", "CPU s")
HEAD = ("environment", "threshold", "timesteps", "ablation", *MEASURED)
PLANNERS_HEAD = ("environment", *CHOICES, *MEASURED)
ALIKE = 2.0  # medians of three seeds within this factor of each other are called alike


def measured(row: Any) -> list[str]:
    """What the runs say in words: an arrival that is empty is never, if there was a run."""
    seeds = f"{row.seeds} of {row.seeds_planned}"
    if row.seeds == 0:
        return [seeds, *[MISSING] * 5]
    times = (row.median_first_arrival, row.median_lasting_arrival)
    return [
        seeds,
        f"{row.n_reached} of {row.seeds}",
        *("never" if pd.isna(time) else f"{time:,.0f}" for time in times),
        f"{row.late_return:,.2f}".replace("-", "\N{MINUS SIGN}"),
        f"{row.cpu_seconds:,.0f}",
    ]


def are_alike(rows: pd.DataFrame) -> bool:
    """Whether all rows arrive about as early, or none does."""
    medians = rows["median_first_arrival"]
    if medians.isna().any():
        return bool(medians.isna().all())
    return bool(medians.max() <= ALIKE * medians.min())


def render(table: pd.DataFrame, planners: pd.DataFrame) -> str:
    """The page of both tables."""
    alike = {}  # by choice: per combination of all else, whether it makes no difference
    for choice in CHOICES:
        others = ["environment", *(other for other in CHOICES if other != choice)]
        groups = planners.groupby(others)
        alike[choice] = [are_alike(rows) for _, rows in groups if rows["seeds"].all()]
    medians = planners.groupby(["environment", "rhythm", "optimism"])["median_first_arrival"]
    choices = [
        (
            row.environment,
            number(row.threshold),
            f"{row.timesteps:,}",
            f"`{row.ablation}`",
            *measured(row),
        )
        for row in table.itertuples()
    ]
    combinations = [
        (row.environment, row.rhythm, row.optimism, row.planner, *measured(row))
        for row in planners.itertuples()
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (Markdown of numbers, not HTML)
    )
    return environment.get_template("page.md.j2").render(
        changes=dict(zip(table["ablation"], table["change"], strict=True)),
        finished=(table["seeds"].sum(), table["seeds_planned"].sum()),
        table=to_markdown([HEAD, *choices]),
        planners_finished=(planners["seeds"].sum(), planners["seeds_planned"].sum()),
        alike=alike,
        none_arrives=(medians.count() == 0).sum(),
        factor=ALIKE,
        planner_table=to_markdown([PLANNERS_HEAD, *combinations]),
    )
