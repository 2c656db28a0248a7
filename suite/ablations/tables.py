"""From the run files of an ablation to its tables: one row a run, and the curves over seeds.

The return is exact where the environment has a transition table, else the mean of the episodes
played: an ablation compares neighbouring settings, and luck with the starts would blur them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite import SuiteError, config
from suite.command import write_result
from suite.results.aggregate import exact_bounds, to_csv
from suite.results.run_file import read_run_file
from suite.results.statistics import censored_median, time_to_threshold
from suite.training.evaluation import planned_grid

OF_AN_EVALUATION = ["seed", "timestep", "return"]


def load_evaluations(study: Mapping[str, Any], name: str, results: Path) -> pd.DataFrame:
    """Every evaluation of an ablation's runs, with the settings that it varies in columns."""
    planned = config.variant_runs(study, name)
    missing = {run.path for _, run in planned if not (results / run.path).exists()}
    if missing:
        raise SuiteError(
            f"{len(missing)} of {len(planned)} runs of the ablation {name} are missing, such as "
            f"{results / min(missing)}: run `make ablations`"
        )
    tables = []
    for variant, run in planned:
        settings = variant.resolved
        table, _ = read_run_file(
            results, run, planned_grid(settings), settings["evaluation"]["episodes"]
        )
        tables.append(
            pd.DataFrame(
                {
                    "environment": run.environment,
                    "algorithm": run.algorithm,
                    **cells(variant.varied),
                    "seed": run.seed,
                    "timestep": table["timestep"],
                    "return": table["exact_return"].fillna(table["mean"]),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def cells(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as cells of a table: those of a mapping get columns of their own."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}_{inner}": cell for inner, cell in cells(value).items()}
        else:
            flat[key] = " ".join(f"{v:g}" for v in value) if isinstance(value, list) else value
    return flat


def settings_columns(evaluations: pd.DataFrame) -> list[str]:
    return [column for column in evaluations if column not in OF_AN_EVALUATION]


def outcomes(evaluations: pd.DataFrame, environments: Mapping[str, Any]) -> pd.DataFrame:
    """One row a run: when it first met the threshold (empty if never), and its late return.

    `environments` are those of envs.yaml; where one has a transition table, its optimum is known.
    """
    names = evaluations["environment"].unique()
    optimum_of = {name: exact_bounds(environments[name]).optimum for name in names}
    columns = [*settings_columns(evaluations), "seed"]
    rows = []
    for key, run in evaluations.groupby(columns, sort=False, dropna=False):
        values = dict(zip(columns, key, strict=True))
        threshold = environments[values["environment"]]["thresholds"][0]
        budget = run["timestep"].iloc[-1]
        reached = time_to_threshold(run["timestep"], run["return"], threshold)
        rows.append(
            {
                **values,
                "timesteps": budget,
                "threshold": threshold,
                "reached": pd.NA if reached == float("inf") else int(reached),
                "late_return": run.loc[run["timestep"] >= budget / 2, "return"].mean(),
                "optimal_return": optimum_of[values["environment"]],
            }
        )
    return pd.DataFrame(rows).astype({"reached": "Int64"})


def median_time(outcomes: pd.DataFrame) -> float:
    """Median timesteps to the threshold over seeds, infinite if most do not reach it."""
    return censored_median(outcomes["reached"].astype(float).fillna(math.inf))


def curves(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of the return at each timestep."""
    columns = [*settings_columns(evaluations), "timestep"]
    by_timestep = evaluations.groupby(columns, sort=False, dropna=False)["return"]
    return by_timestep.agg(["mean", "min", "max"]).reset_index()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="suite ablation", description=__doc__.splitlines()[0])
    parser.add_argument("--ablation", required=True, help="an ablation of envs.yaml")
    parser.add_argument("--envs", default="envs.yaml", help="the choices (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args(arguments)
    folder = options.results / config.ABLATIONS

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        evaluations = load_evaluations(study, options.ablation, options.results)
        runs = outcomes(evaluations, study["environments"])
        return {
            folder / f"{options.ablation}.csv": to_csv(runs),
            folder / f"{options.ablation}_curves.csv": to_csv(curves(evaluations)),
        }

    return write_result(parser.prog, make)
