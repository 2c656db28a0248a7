"""Reading a run file: one row per evaluation, vouched for by the JSON beside it.

A file that was cut short, edited or made by other settings must never be averaged in, so each is
checked against what its run should have written, and against the digest that its JSON holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from suite import SuiteError, config
from suite.config import Run
from suite.training.evaluation import COLUMNS, planned_grid

ALWAYS_FILLED = COLUMNS[: COLUMNS.index("exact_return")]
PROVENANCE = {"git", "python", "platform", "cpu", "packages"}
ROUNDING = 1e-9  # a mean of equal returns may miss them by this much


class RunFileError(SuiteError):
    """A run file that is not what its run wrote."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(f"{path}: {fault}. Delete it and the .json beside it, and run again")


@contextmanager
def told_by_json(path: Path, what: str = "what the run took") -> Iterator[None]:
    """Where the JSON beside a run file is read for what only some tables need."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RunFileError(path, f"{path.stem}.json does not tell {what} ({error!r})") from None


def read_run_file(
    results: Path, run: Run, settings: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The evaluations of a run, with its names, and the JSON beside them, after every check."""
    path = results / run.path
    content = path.read_bytes()
    metadata = _read_metadata(path, run)
    if metadata.get("csv_sha256") != hashlib.sha256(content).hexdigest():
        raise RunFileError(path, "its content is not what the run wrote (csv_sha256 differs)")
    table = _read_evaluations(path, content, settings)
    names = {"environment": run.environment, "algorithm": run.algorithm, "seed": run.seed}
    return table.assign(**names), metadata


def _read_metadata(path: Path, run: Run) -> dict[str, Any]:
    beside = path.with_suffix(".json")
    try:
        metadata = json.loads(beside.read_text(encoding="utf-8"))
        settings, digest = dict(metadata["settings"]), metadata["digest"]
        seed = settings.pop("seed")
        lacking = PROVENANCE - set(metadata["provenance"])
    except FileNotFoundError:
        raise RunFileError(path, f"{beside.name} is missing") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFileError(path, f"{beside.name} is not the JSON of a run ({error!r})") from None
    if lacking:
        raise RunFileError(path, f"{beside.name} lacks the provenance {', '.join(sorted(lacking))}")
    if (seed, digest) != (run.seed, run.digest) or config.digest(settings) != run.digest:
        raise RunFileError(
            path, f"{beside.name} belongs to seed {seed} and digest {digest}, or to other settings"
        )
    return metadata


def _read_evaluations(path: Path, content: bytes, settings: dict[str, Any]) -> pd.DataFrame:
    """The table in `content`, if it is complete and well formed."""
    table = _parse_numbers(path, content)
    grid = zip_longest(table["timestep"], planned_grid(settings), fillvalue="none")
    for line, (timestep, due) in enumerate(grid, start=2):
        if timestep != due:
            raise RunFileError(path, f"line {line} has timestep {timestep} where {due} is due")
    episodes = settings["evaluation"]["episodes"]
    low, mean, high = (table[column] for column in ("min", "mean", "max"))
    for fault, wrong in {
        f"does not have {episodes} episodes": table["episodes"] != episodes,
        "has its mean outside min..max": (mean < low - ROUNDING) | (mean > high + ROUNDING),
        "has a negative std": table["std"] < 0,
    }.items():
        if wrong.any():
            raise RunFileError(path, f"line {wrong.argmax() + 2} {fault}")
    return table.astype({"timestep": int, "episodes": int})


def _parse_numbers(path: Path, content: bytes) -> pd.DataFrame:
    try:
        first, *lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise RunFileError(path, f"byte {error.start} is not UTF-8") from None
    header = ",".join(COLUMNS)
    if first != header:
        raise RunFileError(path, f"its header is {first!r} where {header!r} is due")
    if not lines or lines.pop():
        raise RunFileError(path, "its last line is cut short")
    for number, line in enumerate(lines, start=2):
        if line.count(",") != len(COLUMNS) - 1:
            raise RunFileError(path, f"line {number} does not have {len(COLUMNS)} fields: {line!r}")
    cells = pd.DataFrame([line.split(",") for line in lines], columns=list(COLUMNS), dtype=str)
    table = cells.apply(pd.to_numeric, errors="coerce").astype(float)
    for column in COLUMNS:
        empty = cells[column] == ""
        wrong = ~np.isfinite(table[column]) & ~empty
        if column in ALWAYS_FILLED or not empty.all():
            wrong |= empty
        if wrong.any():
            row = int(np.argmax(wrong))
            raise RunFileError(
                path, f"line {row + 2} has {cells[column][row]!r} in the column {column}"
            )
    return table
