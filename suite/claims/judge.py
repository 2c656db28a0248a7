"""Which sentences of the paper hold: cells.csv and other tables, and claims.md to read.

Judges each sentence of claims.yaml by its rule on each environment, in each case: under each
protocol and with each set of settings of the baselines. The evaluations are those of a scale and,
at the paper scale, of the runs with fixed starts.

    python -m suite claims --scale quick
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from suite import config
from suite.claims import page
from suite.claims.document import Case, Document, load, load_deviations
from suite.claims.evaluations import Evaluations
from suite.claims.rules import FAILS, HOLDS, RULES, UNDECIDED, Cell, Comparison, Question
from suite.command import OPTIONS, make_parser, write_result
from suite.config import Study
from suite.results.tables import Results, read_results, to_csv
from suite.theory.rules import Finding

POWR = "powr"
# Scales whose runs are judged together with those of another.
TOGETHER = {"paper": ("fixed-starts",)}
DIGITS = 6  # those that another processor computes alike
KEY = ["protocol", "settings", "sentence", "environment", "threshold"]


def judge(
    document: Document,
    evaluations: Evaluations,
    sentence: str,
    case: Case,
    environment: str,
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> Cell:
    """One cell, by the sentence's rule, or by the rule with some of its options changed."""
    text, protocol = document.sentences[sentence], document.protocols[case.protocol]
    options = {**text.parameters, **changes}
    place = document.started(environment, protocol.baselines)
    baselines = document.sets[case.settings].baselines
    question = Question(
        evaluations,
        (document.started(environment, protocol.powr), POWR),
        {name: (place, algorithm) for name, algorithm in baselines.items()},
        text.cells[environment],
        document.level,
        options.pop("policy", "sampled"),
        has_intervals=not changes,
    )
    return RULES[text.rule](question, **options)


def tabulate(document: Document, evaluations: Evaluations) -> dict[str, pd.DataFrame]:
    """cells, comparisons, sentences and sensitivity by name; NaN where there is no number.

    Each cell of each sentence is judged, and once more for each choice of its rule.
    """
    numbers = list(Comparison._fields[1:])
    cells, comparisons = [], []
    for case, (name, sentence) in product(document.cases, document.sentences.items()):
        changes = {"": {}, **sentence.sensitivities}
        for choice, (environment, threshold) in product(changes, sentence.cells.items()):
            cell = judge(document, evaluations, name, case, environment, changes[choice])
            key = dict(zip(KEY, (*case, name, environment, threshold), strict=True))
            rows = [key | each._asdict() for each in cell.comparisons]
            cells.append((rows[0] if rows else key) | cell._asdict() | {"choice": choice})
            comparisons += [] if choice else rows
    columns = [*KEY, "choice", "verdict", "effect", "reason", *numbers]
    everything = pd.DataFrame(cells, columns=columns).map(rounded)
    as_judged = everything[everything["choice"] == ""].drop(columns="choice")
    changed = everything[everything["choice"] != ""].merge(
        as_judged[[*KEY, "verdict"]].rename(columns={"verdict": "as_judged"}), on=KEY
    )
    verdicts = as_judged.groupby(KEY[:3], sort=False)[["verdict", "environment"]]
    return {
        "cells": as_judged,
        "comparisons": pd.DataFrame(comparisons, columns=[*KEY, "subject", *numbers]).map(rounded),
        "sentences": verdicts.apply(verdict_of).rename("verdict").reset_index(),
        "sensitivity": changed[[*KEY, "choice", "verdict", "as_judged", "effect"]],
    }


def verdict_of(cells: pd.DataFrame) -> str:
    """The verdict on a sentence in one case: from its cells."""
    verdicts = cells["verdict"]
    if (verdicts == HOLDS).all():
        return HOLDS
    if (verdicts == HOLDS).any():
        return f"holds on {', '.join(cells['environment'][verdicts == HOLDS])}"
    return UNDECIDED if (verdicts == UNDECIDED).all() else FAILS


def tabulate_theory(document: Document) -> pd.DataFrame:
    """One row per number that a verdict on the paper's theory rests on."""
    rows = []
    for theorem in document.theory:
        verdict, findings = theorem.judge()
        key = {"id": theorem.id, "place": theorem.place, "verdict": verdict}
        rows += [key | finding._asdict() for finding in findings]
    columns = ["id", "place", "verdict", *Finding._fields]
    return pd.DataFrame(rows, columns=columns).map(rounded)


def rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def read_together(study: Study, scale: str, results: Path) -> dict[str, Results]:
    """The tables of a scale, and of those that are judged together with it and have any."""
    more = [
        name for name in TOGETHER.get(scale, ()) if (results / name / "evaluations.csv").exists()
    ]
    return {name: read_results(study, name, results / name) for name in (scale, *more)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("claims", __doc__, "--scale", "--envs", "--results", "--out-dir")
    for name in ("--claims", "--deviations"):
        parser.add_argument(name, **OPTIONS[name])
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study, document = config.load(options.envs), load(options.claims)
        deviations = load_deviations(options.deviations, document).deviations
        results = options.results or study.results
        scales = read_together(study, options.scale, results).values()
        evaluations = Evaluations(
            pd.concat([each.evaluations for each in scales], ignore_index=True), document.greedy
        )
        tables = tabulate(document, evaluations) | {"theory": tabulate_theory(document)}
        missing = sum(len(each.missing) for each in scales)
        text = page.render(document, tables, deviations, options.scale, missing)
        folder = options.out_dir or results / options.scale
        files = {folder / f"{name}.csv": to_csv(table) for name, table in tables.items()}
        return {**files, folder / "claims.md": text}

    return write_result(parser.prog, make)
