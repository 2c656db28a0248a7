"""What the explorer in report.html is given: the evaluations of each run, and how each is drawn.

The returns are those of the run files to the last digit, so that the page computes the same
arrivals as suite/results does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from suite.config import Run, Study
from suite.config.models import DEEP_OF_SOURCE, KINDS, LIBRARY, POWR
from suite.names import algorithm_name
from suite.plots.style import looks
from suite.results.arrivals import POLICIES
from suite.results.summary import Planned

# Colours of suite/plots/style.py that are too faint on the page, and those in their place. Contrast
# is at least 3 on light paper, as WCAG 2 asks, and 5 on dark, where thin lines need more.
CLEARER = {
    "light": {"#E69F00": "#c48700", "#44AA99": "#41a291"},
    "dark": {
        **{"#B2182B": "#cd6975", "#000000": "#8c8c8c", "#332288": "#8f85be"},
        **{"#882255": "#b87a99", "#117733": "#4c9966", "#6B7A00": "#818e26"},
    },
}
# The line of an algorithm tells its kind; its colour tells the algorithm.
DASHES = ((), (8, 4), (2, 3), (8, 3, 2, 3), (12, 3))
PAPER_KINDS = (POWR, DEEP_OF_SOURCE[LIBRARY])
ORDER = (*PAPER_KINDS, *(kind for kind in KINDS if kind not in PAPER_KINDS))


def describe(
    study: Study,
    planned: Sequence[Planned],
    evaluations: pd.DataFrame,
    runs: Sequence[Run],
    level: float,
) -> dict[str, Any]:
    """Everything that the page's script reads; `runs` are those that are there."""
    kind = {pair.algorithm: pair.kind for pair in planned}
    algorithms = sorted(kind, key=lambda name: ORDER.index(kind[name]))
    kinds = list(dict.fromkeys(kind[name] for name in algorithms))
    class_of = {name: study.algorithms[name].class_.replace("_", "-") for name in algorithms}
    look_of = looks(dict.fromkeys(class_of.values()))
    # At first the page shows what the paper's figures show.
    shown = [name for name in algorithms if kind[name] in PAPER_KINDS] or algorithms
    tables = dict(list(evaluations.groupby(["environment", "algorithm", "seed"], sort=False)))
    described = []
    for name in algorithms:
        place, colour = kinds.index(kind[name]), look_of[class_of[name]].colour
        described.append(
            {
                "key": name,
                "name": algorithm_name(name),
                "kind": place,
                "source": study.algorithms[name].source.kind,
                "shown": name in shown,
                "dashes": DASHES[place % len(DASHES)],
                "width": 2.5 if kind[name] == POWR else 1.75,
                **{
                    paper: instead.get(colour, colour.lower()) for paper, instead in CLEARER.items()
                },
            }
        )
    environments: dict[str, list[dict[str, Any]]] = {pair.environment: [] for pair in planned}
    for pair in sorted(planned, key=lambda pair: algorithms.index(pair.algorithm)):
        own = [
            show_run(run, tables[run.environment, run.algorithm, run.seed])
            for run in runs
            if (run.environment, run.algorithm) == pair[:2]
        ]
        group = {"algorithm": pair.algorithm, "timesteps": pair.timesteps, "runs": own}
        environments[pair.environment].append(group)
    return {
        "level": level,
        "kinds": kinds,
        "algorithms": described,
        "environments": [
            {
                "name": name,
                "thresholds": study.environments[name].thresholds,
                "groups": groups,
            }
            for name, groups in environments.items()
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
