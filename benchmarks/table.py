"""A table of measurements: printed for reading, written as CSV for use."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Spread
from powr.files import write_together
from suite.training import provenance

RESULTS = provenance.ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Table:
    """Rows share their columns; a cell is text, a number, a `Spread`, or None."""

    name: str
    question: str
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [
            list(self.rows[0]),
            *([as_text(cell) for cell in row.values()] for row in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([self.question, "", *aligned, "", *self.notes])

    def csv(self) -> str:
        """Full precision; a spread takes three columns."""
        rows = [flatten(row) for row in self.rows]
        file = io.StringIO()
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return file.getvalue()


def flatten(row: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for column, cell in row.items():
        if isinstance(cell, Spread):
            flat |= {column: cell.median, f"{column} min": cell.low, f"{column} max": cell.high}
        else:
            flat[column] = cell
    return flat


def as_text(cell: Any) -> str:
    match cell:
        case None:
            return "-"
        case Spread(median, low, high) if low == high:
            return as_text(median)
        case Spread(median, low, high):
            return f"{as_text(median)} ({as_text(low)} to {as_text(high)})"
        case float() if abs(cell) >= 1000:
            return f"{cell:,.0f}"
        case float():
            return f"{cell:.3g}"
        case int():
            return f"{cell:,}"
        case _:
            return str(cell)


def publish(table: Table, out: Path) -> None:
    print(f"\n{table.text()}", flush=True)
    write_together({out / f"{table.name}.csv": table.csv()})
