"""docs/ablations.md: what each ablation undoes, in written words, and the table of what came of it.

python -m suite ablations-page
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from suite import config, markdown
from suite.command import make_parser, write_result
from suite.plots.render import number
from suite.results.tables import read_table

TEMPLATES = Path(__file__).parent
MISSING = "–"
HEAD = (
    *("environment", "threshold", "timesteps", "ablation", "seeds"),
    *("arrived", "first", "lasting", "return", "CPU s"),
)


def cells(row: Any) -> list[str]:
    """A row of the table in words: an arrival that is empty is never, if there was a run."""
    facts = [row.environment, number(row.threshold), f"{row.timesteps:,}", f"`{row.ablation}`"]
    seeds = f"{row.seeds} of {row.seeds_planned}"
    if row.seeds == 0:
        return [*facts, seeds, *[MISSING] * 5]
    times = (row.median_first_arrival, row.median_lasting_arrival)
    return [
        *facts,
        seeds,
        f"{row.n_reached} of {row.seeds}",
        *("never" if pd.isna(time) else f"{time:,.0f}" for time in times),
        f"{row.late_return:,.2f}".replace("-", "\N{MINUS SIGN}"),
        f"{row.cpu_seconds:,.0f}",
    ]


def render(table: pd.DataFrame) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (Markdown of numbers, not HTML)
    )
    return environment.get_template("page.md.j2").render(
        changes=dict(zip(table["ablation"], table["change"], strict=True)),
        seeds=int(table["seeds"].sum()),
        planned=int(table["seeds_planned"].sum()),
        table=markdown.table([HEAD, *map(cells, table.itertuples())]),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("ablations-page", __doc__, "--results")
    parser.add_argument("--out", type=Path, default=Path("docs/ablations.md"))
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        table = read_table(options.results / config.ABLATIONS / "ablations.csv")
        return {options.out: render(table)}

    return write_result(parser.prog, make)
