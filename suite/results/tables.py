"""Reading back the tables that the workflow made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from suite import SuiteError


def read_table(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file, with pandas' options; a damaged one is an error that names it."""
    try:
        return pd.read_csv(path, **options)
    except ValueError as error:  # of pandas' parser, or of bytes that are no text
        fault = " ".join(str(error).split())
        raise SuiteError(
            f"{path}: is not a table ({fault}): delete it and run snakemake again"
        ) from None


def other_runs(path: Path, fault: str) -> SuiteError:
    """The error of a table in a scale's folder that runs have joined or left since it was made."""
    again = f"snakemake --cores 1 --config scale={path.parent.name} partial=true"
    return SuiteError(
        f"{path}: {fault}. It was made from other runs than those in the folder: make it again "
        f"with `make ship` or `{again} --forcerun aggregate claims cost`"
    )
