"""The figures to reach, and whether the tables reach them."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from benchmarks import printed_algorithm
from benchmarks.measure import Spread
from benchmarks.table import Table
from powr.kernels import Gaussian

RELATIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt}
SMOOTH = {"kernel": repr(Gaussian(printed_algorithm.SMOOTH)), "method": "low_rank"}


class Target(NamedTuple):
    """A cell of a table, the median if it is a spread, and the bound that it should keep."""

    table: str
    row: dict[str, Any]
    column: str
    relation: str
    bound: float


TARGETS = (
    Target("printed-algorithm", SMOOTH | {"n": 2000}, "times faster", ">=", 40),
    Target("printed-algorithm", SMOOTH | {"n": 4000}, "times faster", ">=", 100),
    Target("printed-algorithm", SMOOTH | {"n": 2000}, "times faster than algebra", ">=", 40),
    Target("printed-algorithm", SMOOTH | {"n": 4000}, "times faster than algebra", ">=", 100),
    Target("agreement", SMOOTH | {"n": 2000}, "off Algorithm 1", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 4000}, "off Algorithm 1", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 2000}, "off solve", "<=", 1e-6),
    Target("agreement", SMOOTH | {"n": 4000}, "off solve", "<=", 1e-6),
    Target("growth-exponents", {"figure": "fit and 10 steps"}, "exponent", "<=", 1.15),
    Target("growth-exponents", {"figure": "peak memory"}, "exponent", "<=", 1.05),
    Target("growth", {"n": 128_000}, "step / product", "<", 1),
    Target("growth", {"n": 128_000}, "peak MiB", "<", 1536),
    Target("episode", {"n": 100_000}, "refitted / added", ">=", 10),
    Target("tabular", {"environment": "FrozenLake-v1"}, "PMD steps a second", ">=", 2000),
    Target("overhead", {"environment": "FrozenLake-v1"}, "share", ">=", 1 / 3),
    Target("overhead", {"environment": "Taxi-v3"}, "share", ">=", 1 / 3),
    Target("whole-runs", {"environment": "MountainCar-v0"}, "seconds", "<=", 180),
    Target("whole-runs", {"environment": "Taxi-v3"}, "seconds", "<=", 180),
)


def judge(tables: list[Table]) -> Table | None:
    """What was measured against its target; None if these tables have no target."""
    by_name = {table.name: table for table in tables}
    rows = [
        judgement(target, by_name[target.table]) for target in TARGETS if target.table in by_name
    ]
    return Table("targets", "Figures to reach", rows) if rows else None


def judgement(target: Target, table: Table) -> dict[str, Any]:
    cell = table.row(**target.row)[target.column]
    measured = cell.median if isinstance(cell, Spread) else cell
    return {
        "table": target.table,
        "row": ", ".join(str(value) for value in target.row.values()),
        "figure": target.column,
        "measured": measured,
        "target": f"{target.relation} {target.bound:.3g}",
        "met": "yes" if RELATIONS[target.relation](measured, target.bound) else "no",
    }
