"""The tables of a scale, from which everything after `aggregate` is made, and how to print them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from suite import SuiteError
from suite.config import Run, Study
from suite.results.arrivals import FIRST, LASTING


class Results(NamedTuple):
    """The tables of a scale, and which of its runs they hold."""

    evaluations: pd.DataFrame
    arrivals: pd.DataFrame  # runs.csv
    training: pd.DataFrame
    there: list[Run]
    missing: list[Run]


def read_table(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file, with pandas' options; a damaged one is an error that names it."""
    try:
        return pd.read_csv(path, **options)
    except FileNotFoundError:
        raise SuiteError(f"{path}: is missing: run `python -m suite aggregate` first") from None
    except ValueError as error:  # of pandas' parser, or of bytes that are no text
        fault = " ".join(str(error).split())
        raise SuiteError(
            f"{path}: is not a table ({fault}): delete it and run snakemake again"
        ) from None


def read_results(study: Study, scale: str, folder: Path) -> Results:
    """The tables in the folder of a scale."""
    training = read_table(folder / "training.csv")
    planned = [run for each in study.combinations(scale) for run in each.runs]
    columns = ["environment", "algorithm", "seed", "digest"]
    held = set(training[columns].itertuples(index=False, name=None))
    return Results(
        read_table(folder / "evaluations.csv"),
        read_table(folder / "runs.csv").astype({FIRST: "Int64", LASTING: "Int64"}),
        training,
        [run for run in planned if tuple(run[1:]) in held],
        [run for run in planned if tuple(run[1:]) not in held],
    )


def to_csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def to_markdown(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
