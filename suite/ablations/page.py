"""docs/ablations.md: what each ablation undoes, in written words, and what came of it in tables.

python -m suite ablations-page
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from suite import config, markdown
from suite.ablations import planners
from suite.command import make_parser, write_result
from suite.plots.render import number
from suite.results.tables import read_table

TEMPLATES = Path(__file__).parent
MISSING = "–"
MEASURED = ("seeds", "arrived", "first", "lasting", "return", "CPU s")
HEAD = ("environment", "threshold", "timesteps", "ablation", *MEASURED)
PLANNERS_HEAD = ("environment", *planners.CHOICES, *MEASURED)


def cells(row: Any) -> list[str]:
    facts = [row.environment, number(row.threshold), f"{row.timesteps:,}", f"`{row.ablation}`"]
    return [*facts, *measured(row)]


def planner_cells(row: Any) -> list[str]:
    return [row.environment, row.rhythm, row.optimism, row.planner, *measured(row)]


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


def finished(table: pd.DataFrame) -> tuple[int, int]:
    """How many runs a table was made of, and of how many."""
    return int(table["seeds"].sum()), int(table["seeds_planned"].sum())


def render(table: pd.DataFrame, planner_table: pd.DataFrame) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (Markdown of numbers, not HTML)
    )
    return environment.get_template("page.md.j2").render(
        changes=dict(zip(table["ablation"], table["change"], strict=True)),
        finished=finished(table),
        table=markdown.table([HEAD, *map(cells, table.itertuples())]),
        planners_finished=finished(planner_table),
        alike={choice: planners.alike(planner_table, choice) for choice in planners.CHOICES},
        none_arrives=planners.none_arrives(planner_table),
        factor=planners.ALIKE,
        planner_table=markdown.table(
            [PLANNERS_HEAD, *map(planner_cells, planner_table.itertuples())]
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("ablations-page", __doc__, "--results")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/ablations.md"), help="default: %(default)s"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        folder = options.results / config.ABLATIONS
        return {
            options.out: render(
                read_table(folder / "ablations.csv"), read_table(folder / "planners.csv")
            )
        }

    return write_result(parser.prog, make)
