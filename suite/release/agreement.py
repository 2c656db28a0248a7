"""What a run that was trained again says of the shipped one.

On the versions and the processor of the shipped run it must be identical to the last bit. Elsewhere
sums are rounded differently and training takes another course, so it must be like one more seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from suite.results.statistics import area_under_curve

IDENTICAL, WITHIN, OPEN, DIFFERS = "identical", "within the spread", "open", "DIFFERS"


def judge_run(shipped: Path, trained: Path, seeds: Sequence[Path]) -> tuple[str, str]:
    """What a run trained again says of the shipped one; `seeds` are all shipped runs like it."""
    same_rows = shipped.read_bytes() == trained.read_bytes()
    agents = [path.with_suffix(".npz") for path in (shipped, trained)]
    same_agent = not agents[1].exists() or same_agents(*agents)
    if same_rows and same_agent:
        return IDENTICAL, "evaluations and agent" if agents[1].exists() else "evaluations"
    changes = changed_origin(*(read_provenance(path) for path in (shipped, trained)))
    if not changes:
        what = "the agent" if same_rows else "an evaluation"
        return DIFFERS, f"{what} is another on the same versions and processor"
    if len(seeds) < 2:
        return OPEN, f"one seed has no spread; {changes}"
    score, scores = mean_return(trained), [mean_return(path) for path in seeds]
    low, high = min(scores), max(scores)
    # One more seed lies beyond those there are a quarter of the time, but not by their whole range.
    within = 2 * low - high <= score <= 2 * high - low
    detail = f"mean return {score:.3g}, over seeds {low:.3g} to {high:.3g}; {changes}"
    return (WITHIN if within else DIFFERS), detail


def same_agents(*paths: Path) -> bool:
    """By what they hold but for powr's version: another zlib compresses to other bytes."""
    if not all(path.exists() for path in paths):
        return False
    (metadata, arrays), (other_metadata, others) = map(read_agent, paths)
    return (
        metadata == other_metadata
        and arrays.keys() == others.keys()
        and all(
            array.dtype == others[name].dtype and np.array_equal(array, others[name])
            for name, array in arrays.items()
        )
    )


def read_agent(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The metadata without the version of powr that wrote them, and the arrays."""
    with np.load(path) as archive:
        arrays = dict(archive)
    metadata = json.loads(str(arrays.pop("metadata")))
    return {key: value for key, value in metadata.items() if key != "version"}, arrays


def read_provenance(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["provenance"]


def changed_origin(shipped: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """How versions and processor differ from those of the shipped run; empty if they do not."""
    changes = [
        f"{key} {here.get(key)} for {shipped.get(key)}"
        for key in ("python", "platform", "cpu")
        if here.get(key) != shipped.get(key)
    ]
    old, new = shipped["packages"], here["packages"]
    changes += [
        f"{name} {new[name]} for {old[name]}"
        for name in sorted(old.keys() & new.keys())
        if old[name] != new[name]
    ]
    old, new = (sorted(map(str, origin.get("thread_pools", []))) for origin in (shipped, here))
    if old != new:
        changes.append("other libraries of linear algebra, or another processor")
    return ", ".join(changes)


def mean_return(path: Path) -> float:
    """Over log timesteps: the area under the run's curve."""
    table = pd.read_csv(path)
    return area_under_curve(table["timestep"], table["mean"])
