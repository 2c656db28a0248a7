"""What the explorer in report.html is given: the evaluations of each run, and how each is drawn.

The returns are those of the run files to the last digit, so that the page computes the same
arrivals as suite/results does.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite.config import Run
from suite.config.kinds import DEEP_OF_SOURCE, KINDS, LIBRARY, POWR
from suite.names import algorithm_name
from suite.plots.style import looks
from suite.results.arrivals import POLICIES
from suite.results.summary import Planned

FOLDER = Path(__file__).parent
SCRIPTS = ("vendor/uPlot.iife.min.js", "statistics.js", "tables.js", "explorer.js", "downloads.js")
STYLES = ("vendor/uPlot.min.css", "report.css")
PAPER = {"light": "#ffffff", "dark": "#0f1318"}  # what the colours lie on, as in report.css
FAINTEST = {"light": 3.0, "dark": 5.0}  # contrast; WCAG 2 asks for 3, thin lines on black for more
# The line of an algorithm tells its kind; its colour tells the algorithm.
DASHES = ((), (8, 4), (2, 3), (8, 3, 2, 3), (12, 3))
PAPER_KINDS = (POWR, DEEP_OF_SOURCE[LIBRARY])
ORDER = (*PAPER_KINDS, *(kind for kind in KINDS if kind not in PAPER_KINDS))


def describe(
    study: Mapping[str, Any],
    planned: Sequence[Planned],
    evaluations: pd.DataFrame,
    runs: Sequence[Run],
    level: float,
) -> dict[str, Any]:
    """Everything that the page's script reads; `runs` are those that are there."""
    kind = {pair.algorithm: pair.kind for pair in planned}
    algorithms = sorted(kind, key=lambda name: ORDER.index(kind[name]))
    kinds = list(dict.fromkeys(kind[name] for name in algorithms))
    class_of = {name: study["algorithms"][name]["class"].replace("_", "-") for name in algorithms}
    look_of = looks(dict.fromkeys(class_of.values()))
    # At first the page shows what the paper's figures show.
    shown = [name for name in algorithms if kind[name] in PAPER_KINDS] or algorithms
    tables = dict(list(evaluations.groupby(["environment", "algorithm", "seed"], sort=False)))
    return {
        "level": level,
        "kinds": kinds,
        "algorithms": [
            {
                "key": name,
                "name": algorithm_name(name),
                "kind": (place := kinds.index(kind[name])),
                "source": study["algorithms"][name]["source"]["kind"],
                "shown": name in shown,
                "dashes": DASHES[place % len(DASHES)],
                "width": 2.5 if kind[name] == POWR else 1.75,
                **on_paper(look_of[class_of[name]].colour),
            }
            for name in algorithms
        ],
        "environments": [
            {
                "name": environment,
                "thresholds": study["environments"][environment]["thresholds"],
                "groups": [
                    {
                        "algorithm": pair.algorithm,
                        "timesteps": pair.timesteps,
                        "runs": [
                            show_run(run, tables[run.environment, run.algorithm, run.seed])
                            for run in runs
                            if (run.environment, run.algorithm) == pair[:2]
                        ],
                    }
                    for name in algorithms
                    for pair in planned
                    if (pair.environment, pair.algorithm) == (environment, name)
                ],
            }
            for environment in dict.fromkeys(pair.environment for pair in planned)
        ],
    }


def show_run(run: Run, table: pd.DataFrame) -> dict[str, Any]:
    returns = {
        policy: shortest(table[column]) if table[column].notna().all() else None
        for policy, (column, _) in POLICIES.items()
    }
    return {"seed": run.seed, "file": run.path.relative_to(run.scale).as_posix(), **returns}


def shortest(values: pd.Series) -> list[float]:
    """The same numbers, whole ones without a decimal point."""
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def on_paper(colour: str) -> dict[str, str]:
    """The colour as it is on light and on dark paper: moved away from it until it stands out."""
    found = {}
    for scheme, paper in PAPER.items():
        target = 0 if luminance(paper) > 0.5 else 255
        for share in range(0, 101, 5):
            mixed = [round(c + (target - c) * share / 100) for c in channels(colour)]
            found[scheme] = "#" + "".join(f"{c:02x}" for c in mixed)
            if contrast(found[scheme], paper) >= FAINTEST[scheme]:
                break
    return found


def channels(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    shares = [c / 255 for c in channels(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def read_assets(names: Sequence[str]) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8").strip() for name in names)


def integrity(script: str) -> str:
    """The digest by which a content security policy allows exactly this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
