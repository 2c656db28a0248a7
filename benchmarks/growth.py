"""Time and memory of a fit and 10 PMD steps as the data doubles, with 500 dictionary points."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Spread, in_own_process, ratios
from benchmarks.mountain_car import explore
from benchmarks.table import Table

NAME = "growth"
EXPONENTS = "growth-exponents"
SIZES = (4000, 8000, 16000, 32000, 64000, 128000)
QUICK_SIZES = (500, 1000, 2000)
MIB = 2**20


def tables(quick: bool, repeats: int) -> list[Table]:
    sizes, rank, steps = (QUICK_SIZES, 100, 2) if quick else (SIZES, 500, 10)
    points = measure(sizes, rank, steps, repeats)
    rows = [{"n": n, "steps": steps, **as_cells(points[n])} for n in sizes]
    growth = Table(
        NAME,
        f"Fit and {steps} PMD steps on n MountainCar transitions, {rank} dictionary points",
        rows,
        (
            "Each point is a process of its own. Product: one plain BLAS product of the blocks of "
            "a step (n m^2 |A| multiply-adds). Peak MiB includes the base: interpreter,",
            "libraries and data, before the fit.",
        ),
    )
    figures = {
        f"fit and {steps} steps": "seconds",
        "fit": "fit",
        "one step": "step",
        "peak memory": "peak MiB",
        "peak memory above base": "MiB above base",
    }
    exponents = [
        {
            "figure": figure,
            "exponent": exponent(rows, column),
            "of the last doubling": exponent(rows[-2:], column),
        }
        for figure, column in figures.items()
    ]
    question = f"Fitted exponents in n, {sizes[0]:,} to {sizes[-1]:,}"
    return [growth, Table(EXPONENTS, question, exponents)]


def measure(
    sizes: Sequence[int], rank: int, steps: int, repeats: int
) -> dict[int, list[dict[str, Any]]]:
    points: dict[int, list[dict[str, Any]]] = {n: [] for n in sizes}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, **explore(sizes[-1])._asdict())
        for round_ in range(repeats):
            for n in sizes:
                print(f"round {round_ + 1} of {repeats}: n = {n:,}", file=sys.stderr)
                point = in_own_process("benchmarks.growth_point", data, n, rank, steps)
                points[n].append(point)
    return points


def as_cells(points: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {key: [point[key] for point in points] for key in points[0]}
    above = [p - b for p, b in zip(columns["peak_bytes"], columns["base_bytes"], strict=True)]
    return {
        "states": columns["states"][0],
        "rank": columns["rank"][0],
        "seconds": Spread.of(columns["total_seconds"]),
        "fit": Spread.of(columns["fit_seconds"]),
        "step": Spread.of(columns["step_seconds"]),
        "product": Spread.of(columns["product_seconds"]),
        "step / product": ratios(columns["step_seconds"], columns["product_seconds"]),
        "peak MiB": Spread.of(value / MIB for value in columns["peak_bytes"]),
        "MiB above base": Spread.of(value / MIB for value in above),
    }


def exponent(rows: list[dict[str, Any]], column: str) -> float:
    """Slope of the least-squares line through the medians in log-log scale."""
    sizes = [row["n"] for row in rows]
    medians = [row[column].median for row in rows]
    return float(np.polyfit(np.log(sizes), np.log(medians), 1)[0])
