"""Model cards: one README.md beside the trained agents of an algorithm on an environment.

python -m suite cards --scale paper
"""

from __future__ import annotations

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
from suite.results import aggregate

CARD = "README.md"
TEMPLATE = Path(__file__).with_name("card.md.j2")


def has_agent(metadata: Mapping[str, Any]) -> bool:
    """Whether a run left a trained agent beside it, by its JSON."""
    return "agent_sha256" in metadata


def commit_of(metadata: Mapping[str, Any]) -> str:
    """The commit that trained a run; empty outside a repository."""
    return (metadata["provenance"]["git"] or {}).get("commit", "")


def spread(mean: float, deviation: float) -> str:
    return " ± ".join(f"{round(value, 3) + 0.0:g}" for value in (mean, deviation))


def render(runs: Sequence[Run], settings: Mapping[str, Any], evaluations: pd.DataFrame) -> str:
    """The card of one algorithm on one environment, from the evaluations of its runs."""
    last = evaluations[evaluations["timestep"] == evaluations["timestep"].max()].set_index("seed")
    templates = jinja2.Environment(  # noqa: S701 - Markdown, not HTML
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters["yaml"] = lambda value: yaml.safe_dump(
        value, default_flow_style=True, width=1000
    ).strip()
    return templates.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        name=algorithm_name(runs[0].algorithm),
        class_name=baselines.find(settings["algorithm"]["class"]).__name__,
        environment=runs[0].environment,
        settings=settings,
        digest=runs[0].digest,
        overall=spread(last["mean"].mean(), last["mean"].std(ddof=0)),
        agents=[
            (
                run.seed,
                run.path.with_suffix(".npz").name,
                spread(*last.loc[run.seed, ["mean", "std"]]),
            )
            for run in runs
        ],
    )


def write(study: Mapping[str, Any], scale: str, results: Path) -> dict[Path, str]:
    """The text of every card of a scale."""
    loaded = aggregate.load_runs(study, scale, results, partial=True)
    cards = {}
    for (environment, algorithm), evaluations in loaded.evaluations.groupby(aggregate.GROUP):
        own = {
            run: metadata
            for run, metadata in loaded.metadata.items()
            if (run.environment, run.algorithm) == (environment, algorithm) and has_agent(metadata)
        }
        if own:
            runs = sorted(own)
            path = results / runs[0].path.with_name(CARD)
            cards[path] = render(runs, own[runs[0]]["settings"], evaluations)
    return cards


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("cards", __doc__, "--scale", "--envs", "--results")
    options = parser.parse_args(arguments)
    return write_result(
        parser.prog, lambda: write(config.load(options.envs), options.scale, options.results)
    )
