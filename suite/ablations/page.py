"""docs/ablations.md: what each ablation found, in written words and computed numbers.

The template holds the words; every number in it is looked up in the tables of the ablations.

    python -m suite ablations-page
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from suite import SuiteError, config
from suite.ablations.tables import median_time
from suite.command import write_result
from suite.results.tables import read_table

TEMPLATES = Path(__file__).parent


def select(table: pd.DataFrame, settings: dict[str, Any]) -> pd.DataFrame:
    """The rows with these settings; it is an error if there are none."""
    rows = table
    for column, value in settings.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        raise SuiteError(f"page.md.j2 asks for {settings}, which no run of the table has")
    return rows


def timesteps(table: pd.DataFrame, **settings: Any) -> str:
    """Median timesteps to the threshold, and how many seeds reach it where not all do."""
    rows = select(table, settings)
    median, arrived = median_time(rows), rows["reached"].count()
    if arrived == 0:
        return "never"
    if math.isinf(median):
        return f"never ({arrived} of {len(rows)} seeds do)"
    return f"{median:,.0f}" + ("" if arrived == len(rows) else f" ({arrived} of {len(rows)})")


def spread(table: pd.DataFrame, **settings: Any) -> str:
    """Smallest and largest timesteps to the threshold over seeds."""
    reached = select(table, settings)["reached"]
    last = "never" if reached.isna().any() else f"{reached.max():,.0f}"
    return f"{reached.min():,.0f} to {last}" if reached.notna().any() else "never"


def late_return(table: pd.DataFrame, **settings: Any) -> str:
    """Mean over seeds of the return in the second half of training."""
    return f"{select(table, settings)['late_return'].mean():,.2f}".replace("-", "\N{MINUS SIGN}")


def median(table: pd.DataFrame, column: str, **settings: Any) -> str:
    return f"{select(table, settings)[column].median():.2g}"


def render(tables: dict[str, pd.DataFrame]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (Markdown of numbers, not HTML)
    )
    of_table = {
        name: {
            "timesteps": functools.partial(timesteps, table),
            "spread": functools.partial(spread, table),
            "late_return": functools.partial(late_return, table),
            "median": functools.partial(median, table),
            "seeds": int(table["seed"].nunique()),
        }
        for name, table in tables.items()
    }
    return environment.get_template("page.md.j2").render(of_table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="suite ablations-page", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--envs", default="envs.yaml", help="the choices (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--out", type=Path, default=Path("docs/ablations.md"))
    options = parser.parse_args(arguments)
    folder = options.results / config.ABLATIONS

    def make() -> dict[Path, str]:
        names = [*config.load(options.envs)["ablations"], "rank_error"]
        tables = {name: read_table(folder / f"{name}.csv") for name in names}
        return {options.out: render(tables)}

    return write_result(parser.prog, make)
