"""Reading a run file: one row per evaluation, vouched for by the JSON beside it.

A file that was cut short, edited or made with other settings must never be averaged in. The JSON
holds the checksum of the file and the run's settings; their digest is part of the file's name.
"""

from __future__ import annotations

import hashlib
import io
import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pydantic
from pydantic import Field

from suite import SuiteError, config
from suite.config import Run
from suite.training.evaluation import COLUMNS, planned_grid

REQUIRED = ["timestep", "mean", "std", "min", "max", "episodes"]  # the others may be empty

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Part(pydantic.BaseModel):
    """Keys that later versions add are ignored."""

    model_config = pydantic.ConfigDict(strict=True)


class Git(Part):
    commit: str
    clean: bool


class Provenance(Part):
    git: Git | None
    git_fault: str | None = None  # why Git did not tell the state of the repository there is
    python: str
    platform: str
    cpu: str
    packages: dict[str, str]
    thread_pools: list[dict[str, Any]] = []


class Spent(Part):
    """What had passed when an evaluation ended; the CPU's time includes the start of Python."""

    timestep: int
    seconds: Amount
    evaluation_seconds: Amount
    cpu_seconds: Amount = math.nan
    evaluation_cpu_seconds: Amount = math.nan


class Record(Part):
    """The JSON of a run, as far as it is read."""

    settings: dict[str, Any]
    digest: str
    csv_sha256: Sha256
    agent_sha256: Sha256 | None = None
    provenance: Provenance
    duration_seconds: Amount
    peak_memory_bytes: Annotated[int, Field(ge=0)]
    evaluations: Annotated[list[Spent], Field(min_length=1)]

    @pydantic.field_validator("evaluations")
    @classmethod
    def _measured_alike(cls, evaluations: list[Spent]) -> list[Spent]:
        if len({frozenset(entry.model_fields_set) for entry in evaluations}) > 1:
            raise ValueError("CPU time of some evaluations only")
        return evaluations


class RunFileError(SuiteError):
    """A run file that is not what its run wrote."""

    REMEDY = "Delete it and the .json beside it, and run again"

    def __init__(self, path: Path, fault: str, remedy: str = REMEDY) -> None:
        super().__init__(f"{path}: {fault}. {remedy}")


def read_run_file(results: Path, run: Run, settings: dict[str, Any]) -> tuple[pd.DataFrame, Record]:
    """The evaluations of a run and the JSON beside them, after every check."""
    path = results / run.path
    document = read_record(path)
    recorded = dict(document.settings)
    identity = (recorded.pop("seed", None), document.digest, config.digest(recorded))
    if identity != (run.seed, run.digest, run.digest):
        raise RunFileError(path, "the .json beside it is of another seed or of other settings")
    content = path.read_bytes()
    if document.csv_sha256 != hashlib.sha256(content).hexdigest():
        unix = content.replace(b"\r\n", b"\n")
        if document.csv_sha256 == hashlib.sha256(unix).hexdigest():
            raise RunFileError(
                path,
                "its line ends were changed to CRLF, as Git does with core.autocrlf",
                "The run is whole: convert it with dos2unix, or clone anew with "
                "`git clone --config core.autocrlf=false`",
            )
        raise RunFileError(path, "its content is not what the run wrote (csv_sha256 differs)")
    try:
        table = pd.read_csv(io.BytesIO(content), dtype=float)
    except ValueError:
        raise RunFileError(path, "it is not a table of numbers") from None
    if list(table.columns) != list(COLUMNS):
        raise RunFileError(path, f"its columns are not {', '.join(COLUMNS)}")
    if table[REQUIRED].isna().any(axis=None) or np.isinf(table).any(axis=None):
        raise RunFileError(path, "it holds values that are empty or not finite")
    if (table["episodes"] % 1 != 0).any():
        raise RunFileError(path, "its numbers of episodes are not whole")
    grid = planned_grid(settings)
    if table["timestep"].tolist() != grid:
        raise RunFileError(path, "its evaluations are not at the timesteps that are planned")
    if [entry.timestep for entry in document.evaluations] != grid:
        raise RunFileError(path, "the .json beside it times other evaluations")
    return table.astype({"timestep": int, "episodes": int}), document


def read_record(path: Path) -> Record:
    """The JSON beside a run file; no part of a content that is wrong is shown."""
    name = path.with_suffix(".json").name
    try:
        return Record.model_validate_json(path.with_suffix(".json").read_bytes())
    except FileNotFoundError:
        raise RunFileError(path, f"{name} is missing") from None
    except pydantic.ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "all of it"
        fault = f"{name} is not the JSON of a run: {place} is missing or wrong"
        raise RunFileError(path, fault) from None
