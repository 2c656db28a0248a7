"""The figures to reach, and whether the written tables reach them."""

from __future__ import annotations

import csv
import operator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import printed_algorithm
from benchmarks.table import Table, as_text
from powr.kernels import Gaussian

RELATIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt}
SMOOTH = {"kernel": repr(Gaussian(printed_algorithm.SMOOTH)), "method": "nystrom"}


class Target(NamedTuple):
    """A cell of a table (of a spread, the median) and the bound that it should keep."""

    table: str
    row: dict[str, Any]
    column: str
    relation: str
    bound: float


TARGETS = (
    Target("printed-algorithm", SMOOTH | {"n": 2000}, "times faster", ">=", 40),
    Target("printed-algorithm", SMOOTH | {"n": 4000}, "times faster", ">=", 100),
    Target("agreement", SMOOTH | {"n": 2000}, "off Algorithm 1", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 4000}, "off Algorithm 1", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 2000}, "off solve", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 4000}, "off solve", "<=", 1e-6),
    Target("growth-exponents", {"figure": "fit and 10 steps"}, "exponent", "<=", 1.15),
    Target("growth-exponents", {"figure": "peak memory"}, "exponent", "<=", 1.05),
    Target("growth", {"n": 128_000}, "step / product", "<=", 0.5),
    Target("growth", {"n": 128_000}, "peak MiB", "<", 1536),
    Target("episode", {"n": 100_000}, "refitted / added", ">=", 10),
    Target("tabular", {"environment": "FrozenLake-v1"}, "PMD steps a second", ">=", 2000),
    Target("overhead", {"environment": "FrozenLake-v1"}, "share", ">=", 1 / 3),
    Target("overhead", {"environment": "Taxi-v3"}, "share", ">=", 1 / 3),
    Target("printed-algorithm", SMOOTH | {"n": 4000}, "times faster than algebra", ">=", 201),
    Target("june", {"timesteps": 30_000}, "seconds", "<=", 90),
    Target("june", {"timesteps": 30_000}, "peak MiB", "<=", 800),
    Target("million", {"n": 1_000_000}, "peak MiB", "<=", 2048),
    Target("million", {"n": 1_000_000}, "exponent", "<=", 1.1),
)


def judge(folder: Path) -> Table | None:
    """What the tables in the folder say about each target; None if they say nothing."""
    rows = []
    for table, cells, column, relation, bound in TARGETS:
        path = folder / f"{table}.csv"
        if not path.exists():
            continue
        wanted = {key: str(cell) for key, cell in cells.items()}.items()
        with path.open(encoding="utf-8", newline="") as file:
            (row,) = (row for row in csv.DictReader(file) if wanted <= row.items())
        measured = float(row[column])
        rows.append(
            {
                "table": table,
                "row": ", ".join(map(str, cells.values())),
                "figure": column,
                "measured": measured,
                "target": f"{relation} {as_text(bound)}",
                "met": "yes" if RELATIONS[relation](measured, bound) else "no",
            }
        )
    return Table("targets", "Figures to reach", rows) if rows else None
