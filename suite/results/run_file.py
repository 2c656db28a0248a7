"""Reading a run file: one row per evaluation, vouched for by the JSON beside it.

A file that was cut short, edited or made by other settings must never be averaged in, so each is
checked against what its run should have written, and against the digest that its JSON holds.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from suite import SuiteError, config
from suite.config import Run
from suite.training.evaluation import COLUMNS

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
    folder: Path, run: Run, timesteps: Sequence[int], episodes: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The evaluations of a run, and the JSON beside them, after every check."""
    path = folder / run.path
    content = path.read_bytes()
    metadata = _read_metadata(path, run)
    if metadata.get("csv_sha256") != hashlib.sha256(content).hexdigest():
        raise RunFileError(path, "its content is not what the run wrote (csv_sha256 differs)")
    return parse_evaluations(path, content, timesteps, episodes), metadata


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
            path, f"{beside.name} is of seed {seed} and digest {digest}, or of other settings"
        )
    return metadata


def parse_evaluations(
    path: Path, content: bytes, timesteps: Sequence[int], episodes: int
) -> pd.DataFrame:
    """The table in `content`, if it is complete and well formed."""
    table = _parse_numbers(path, content)
    found = table["timestep"].tolist()
    if found != list(timesteps):
        raise RunFileError(path, _grid_fault(found, list(timesteps)))
    wrong = table.index[table["episodes"] != episodes]
    if len(wrong):
        raise RunFileError(
            path,
            f"line {wrong[0] + 2} has {table['episodes'][wrong[0]]:g} episodes "
            f"where {episodes} are due",
        )
    low, mean, high = (table[column] for column in ("min", "mean", "max"))
    misplaced = table.index[(mean < low - ROUNDING) | (mean > high + ROUNDING) | (table["std"] < 0)]
    if len(misplaced):
        raise RunFileError(
            path, f"line {misplaced[0] + 2} has its mean outside min..max, or a negative std"
        )
    return table.astype({"timestep": int, "episodes": int})


def _parse_numbers(path: Path, content: bytes) -> pd.DataFrame:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunFileError(path, f"byte {error.start} is not UTF-8") from None
    header = ",".join(COLUMNS)
    first_line = text.partition("\n")[0]
    if first_line != header:
        raise RunFileError(path, f"its header is {first_line!r} where {header!r} is due")
    if not text.endswith("\n"):
        raise RunFileError(path, "its last line is cut short")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(",") != len(COLUMNS) - 1:
            raise RunFileError(path, f"line {number} does not have {len(COLUMNS)} fields: {line!r}")
    cells = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
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


def _grid_fault(found: list[float], due: list[int]) -> str:
    for line, (timestep, expected) in enumerate(zip(found, due, strict=False), start=2):
        if timestep != expected:
            return f"line {line} is of timestep {timestep:g} where {expected} is due"
    if len(found) < len(due):
        last = f"{found[-1]:g}" if found else "nothing"
        return f"it ends with timestep {last} where {due[-1]} is due"
    return f"it has {len(found) - len(due)} lines beyond timestep {due[-1]}"
