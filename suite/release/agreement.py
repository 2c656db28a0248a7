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
    has_agent = agents[1].exists()
    if same_rows and (not has_agent or same_agents(*agents)):
        return IDENTICAL, "evaluations and agent" if has_agent else "evaluations"
    changes = changed_origin(*(read_provenance(path) for path in (shipped, trained)))
    if not changes:
        what = "the agent" if same_rows else "an evaluation"
        return DIFFERS, f"{what} is another on the same versions and processor"
    if len(seeds) < 2:
        return OPEN, f"one seed has no spread; {changes}"
    score, *scores = map(mean_return, (trained, *seeds))
    low, high = min(scores), max(scores)
    # One more seed lies beyond those there are a quarter of the time, but not by their whole range.
    within = 2 * low - high <= score <= 2 * high - low
    detail = f"mean return {score:.3g}, over seeds {low:.3g} to {high:.3g}; {changes}"
    return (WITHIN if within else DIFFERS), detail


def same_agents(first: Path, second: Path) -> bool:
    """By what they hold but for powr's version: another zlib compresses to other bytes."""
    contents = []
    for path in (first, second):
        with np.load(path) as archive:
            arrays = dict(archive)
        metadata = {**json.loads(str(arrays.pop("metadata"))), "version": None}
        bits = {name: (a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()}
        contents.append((metadata, bits))
    return contents[0] == contents[1]


def read_provenance(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["provenance"]


def changed_origin(shipped: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """How versions and processor differ from those of the shipped run; empty if they do not."""
    old, new = (
        {**{key: each.get(key) for key in ("python", "platform", "cpu")}, **each["packages"]}
        for each in (shipped, here)
    )
    changes = [
        f"{key} {new[key]} for {old[key]}" for key in old if new.get(key, old[key]) != old[key]
    ]
    pools = [sorted(map(str, each.get("thread_pools", []))) for each in (shipped, here)]
    if pools[0] != pools[1]:
        changes.append("other libraries of linear algebra, or another processor")
    return ", ".join(changes)


def mean_return(path: Path) -> float:
    """Over log timesteps: the area under the run's curve."""
    table = pd.read_csv(path)
    return area_under_curve(table["timestep"], table["mean"])
