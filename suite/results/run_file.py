"""Reading a run file: one row per evaluation, vouched for by the JSON beside it.

A file that was cut short, edited or made with other settings must never be averaged in. The JSON
holds the checksum of the file and the run's settings; their digest is part of the file's name.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from suite import SuiteError, config
from suite.config import Run
from suite.training.evaluation import planned_grid


class RunFileError(SuiteError):
    """A run file that is not what its run wrote."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(f"{path}: {fault}. Delete it and the .json beside it, and run again")


def read_run_file(
    results: Path, run: Run, settings: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The evaluations of a run and the JSON beside them, after every check."""
    path = results / run.path
    content = path.read_bytes()
    beside = path.with_suffix(".json")
    try:
        metadata = json.loads(beside.read_text(encoding="utf-8"))
        recorded = dict(metadata["settings"])
        seed, digest = recorded.pop("seed"), metadata["digest"]
        checksum = metadata["csv_sha256"]
    except FileNotFoundError:
        raise RunFileError(path, f"{beside.name} is missing") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFileError(path, f"{beside.name} is not the JSON of a run ({error!r})") from None
    if (seed, digest) != (run.seed, run.digest) or config.digest(recorded) != run.digest:
        raise RunFileError(
            path, f"{beside.name} belongs to seed {seed} and digest {digest}, or to other settings"
        )
    if checksum != hashlib.sha256(content).hexdigest():
        raise RunFileError(path, "its content is not what the run wrote (csv_sha256 differs)")
    table = pd.read_csv(io.BytesIO(content), dtype=float)
    if table["timestep"].tolist() != list(planned_grid(settings)):
        raise RunFileError(path, "its evaluations are not at the timesteps that are planned")
    return table.astype({"timestep": int, "episodes": int}), metadata
