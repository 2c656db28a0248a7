"""Model cards: one README.md beside the trained agents of an algorithm on an environment.

python -m suite cards --scale paper
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml

import baselines
from suite import config
from suite.command import make_parser, write_result
from suite.config import Run
from suite.names import algorithm_name
from suite.results import aggregate, arrivals

CARD = "README.md"
TEMPLATE = Path(__file__).with_name("card.md.j2")


def has_agent(metadata: Mapping[str, Any]) -> bool:
    """Whether a run left a trained agent beside it, by its JSON."""
    return "agent_sha256" in metadata


def render(
    study: Mapping[str, Any],
    runs: Mapping[Run, Mapping[str, Any]],
    evaluations: pd.DataFrame,
    arrived: pd.DataFrame,
) -> str:
    """The card of one algorithm on one environment; `runs` has the JSON of each of its runs."""
    first = next(iter(runs))
    environment, algorithm = first.environment, first.algorithm
    threshold = study["environments"][environment]["thresholds"][0]
    rows = evaluations.query("environment == @environment and algorithm == @algorithm")
    last = rows[rows["timestep"] == rows["timestep"].max()].set_index("seed")
    times = arrivals.select(arrived, environment, algorithm, threshold).set_index("seed")
    templates = jinja2.Environment(  # noqa: S701 - Markdown, not HTML
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters["yaml"] = lambda value: yaml.safe_dump(
        value, default_flow_style=True, width=1000
    ).strip()
    settings = runs[first]["settings"]
    return templates.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        name=algorithm_name(algorithm),
        class_name=baselines.find(settings["algorithm"]["class"]).__name__,
        environment=environment,
        settings=settings,
        source=study["algorithms"][algorithm]["source"]["kind"],
        digest=first.digest,
        threshold=threshold,
        overall=spread(last["mean"].mean(), last["mean"].std(ddof=0)),
        has_exact=last["exact_return"].notna().any(),
        agents=[
            {
                "seed": run.seed,
                "file": run.path.with_suffix(".npz").name,
                "return": spread(last.loc[run.seed, "mean"], last.loc[run.seed, "std"]),
                "exact": number(last.loc[run.seed, "exact_return"]),
                "sampled": number(last.loc[run.seed, "sampled_mean"]),
                "first": time(times.loc[run.seed, arrivals.FIRST]),
                "lasting": time(times.loc[run.seed, arrivals.LASTING]),
                "commit": commit_of(metadata)[:12] or "unknown",
                "sha256": metadata["agent_sha256"],
            }
            for run, metadata in sorted(runs.items())
        ],
    )


def commit_of(metadata: Mapping[str, Any]) -> str:
    """The commit that trained a run; empty outside a repository."""
    return (metadata["provenance"]["git"] or {}).get("commit", "")


def number(value: float) -> str:
    return "" if math.isnan(value) else f"{round(value, 3) + 0.0:g}"


def spread(mean: float, deviation: float) -> str:
    return f"{number(mean)} ± {number(deviation)}"


def time(value: Any) -> str:
    return "never" if pd.isna(value) else f"{value:,}"


def write(study: Mapping[str, Any], scale: str, results: Path) -> dict[Path, str]:
    """The text of every card of a scale."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    arrived = aggregate.read_arrivals(results / scale, loaded)
    cards: dict[Path, dict[Run, Any]] = {}
    for run, metadata in loaded.metadata.items():
        if has_agent(metadata):
            cards.setdefault(results / run.path.with_name(CARD), {})[run] = metadata
    return {path: render(study, runs, loaded.evaluations, arrived) for path, runs in cards.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("cards", __doc__, "--scale", "--envs", "--results")
    options = parser.parse_args(arguments)
    return write_result(
        parser.prog, lambda: write(config.load(options.envs), options.scale, options.results)
    )
