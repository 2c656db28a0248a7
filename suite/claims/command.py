"""Which sentences of the paper hold: cells.csv and other tables, and claims.md to read.

Judges each sentence of claims.yaml by its rule, under each protocol and set of baselines, on the
evaluations of a scale and, at the paper scale, of the runs with fixed starts.

    python -m suite claims --scale quick
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from suite import config
from suite.claims import deviations, document, judge, page, tables, theorems
from suite.claims.runs import Evaluations
from suite.command import OPTIONS, make_parser, write_result
from suite.results.tables import read_results, to_csv

# Scales whose runs are judged together with those of another.
TOGETHER = {"paper": ("fixed-starts",)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("claims", __doc__, "--scale", "--envs", "--results", "--out-dir")
    for name in ("--claims", "--deviations"):
        parser.add_argument(name, **OPTIONS[name])
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        results = options.results or study.results
        text = document.load(options.claims)
        known = deviations.load(options.deviations, text)
        scales = [options.scale, *TOGETHER.get(options.scale, ())]
        found = [
            read_results(study, scale, results / scale)
            for scale in scales
            if (results / scale / "evaluations.csv").exists() or scale == options.scale
        ]
        evaluations = Evaluations(
            pd.concat([each.evaluations for each in found], ignore_index=True), set(text.greedy)
        )
        judged = judge.judge_all(text, evaluations)
        sensitivity = tables.sensitivity(judged, list(judge.sensitivities(text, evaluations)))
        theory = {
            each.id: theorems.RULES[each.rule](
                theorems.parameters_of(each.rule, each.parameters, options.claims, each.id)
            )
            for each in text.theory
        }
        missing = sum(len(each.missing) for each in found)
        rendered = page.render(text, judged, sensitivity, theory, known, options.scale, missing)
        folder = options.out_dir or results / options.scale
        return {
            folder / "cells.csv": to_csv(tables.cells(judged)),
            folder / "comparisons.csv": to_csv(tables.comparisons(judged)),
            folder / "sentences.csv": to_csv(tables.sentences(judged)),
            folder / "sensitivity.csv": to_csv(sensitivity),
            folder / "theory.csv": to_csv(tables.theory(text.theory, theory)),
            folder / "claims.md": rendered,
        }

    return write_result(parser.prog, make)
