"""What came out of a comparison: tables, a picture, and a table for the terminal."""

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from powr.files import write_together
from suite.compare.study import SCALE
from suite.config import Run
from suite.names import algorithm_name
from suite.plots import comparison
from suite.plots.render import deterministic, files, read_tables
from suite.results.aggregate import aggregate, first_update, load_runs

UNTRAINED = "no update"


def write_outcome(study: Mapping[str, Any], folder: Path) -> str:
    """Write tables and picture of the runs there are; the table for the terminal."""
    tables = aggregate(study, SCALE, folder, partial=True)
    place = folder / SCALE
    write_together({place / name: text for name, text in tables.items()})
    shown = deterministic(read_tables(place))
    write_together(files(comparison.draw, shown, folder / "comparison", ("png", "pdf")))
    loaded = load_runs(study, SCALE, folder, partial=True)
    untrained = {
        run.algorithm for run, metadata in loaded.metadata.items() if made_no_update(metadata)
    }
    seconds = {run: metadata["duration_seconds"] for run, metadata in loaded.metadata.items()}
    return table_of(pd.read_csv(place / "summary.csv"), seconds, untrained)


def made_no_update(metadata: Mapping[str, Any]) -> bool:
    """Whether a run ended before its first update; POWR counts its plans."""
    settings = metadata["settings"]
    too_short = first_update(settings["algorithm"]) >= settings["timesteps"]
    return too_short or metadata.get("plans") == 0


def table_of(
    summary: pd.DataFrame, seconds: Mapping[Run, float], untrained: Collection[str] = ()
) -> str:
    """One row per algorithm, the quickest to the threshold first, the untrained last."""
    rows = summary[summary["policy"] == "deterministic"].drop_duplicates("algorithm")
    rows = rows.assign(untrained=rows["algorithm"].isin(untrained)).sort_values(
        ["untrained", "timesteps_to_threshold", "final_mean"], ascending=[True, True, False]
    )
    lines = [("algorithm", "met", "at timestep", "final return", "(min to max)", "seconds")]
    for _, row in rows.iterrows():
        times = [spent for run, spent in seconds.items() if run.algorithm == row["algorithm"]]
        median = row["timesteps_to_threshold"]
        lines.append(
            (
                algorithm_name(row["algorithm"]) + (f", {UNTRAINED}" if row["untrained"] else ""),
                f"{row['n_reached']:.0f} of {row['seeds']:.0f}",
                f"> {row['timesteps']:,.0f}" if math.isnan(median) else f"{median:,.0f}",
                f"{row['final_mean']:.2f}",
                f"({row['final_min']:g} to {row['final_max']:g})",
                f"{sum(times) / len(times):.1f}" if times else "",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    )
