"""POWR under every combination of settings that the public record or the paper's text allows.

universes.csv has one row per combination: whether POWR then needs fewer timesteps than every
baseline, and the ratio to the best one. counts.csv counts the verdicts, and multiverse.md shows
both. Baselines have either of their settings, whichever is on record with the same starts.

    python -m suite multiverse
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from suite import config
from suite.claims.document import Document, load
from suite.claims.evaluations import Evaluations
from suite.claims.judge import rounded
from suite.claims.rules import FAILS, HOLDS, UNDECIDED, Cell, Question, earlier
from suite.command import make_parser, write_result
from suite.config import Combination, Study
from suite.results.tables import read_table, to_csv, to_markdown

SENTENCE = "quicker"
VERDICTS = (HOLDS, UNDECIDED, FAILS)
BASELINES = ("paper", "fixed-starts")  # the scales that have runs of baselines
# Columns on the best baseline, and the fields of its comparison.
NUMBERS = {"ratio": "value", "low": "low", "high": "high", "bound": "bound"}
NUMBERS |= {"best": "subject", "reached": "seeds"}
NOT_SHOWN = ["seeds", "seeds_planned", "ratio", "low", "high", "bound", "best"]  # on the page


def universes(
    study: Study, document: Document, table: pd.DataFrame, baselines: pd.DataFrame
) -> pd.DataFrame:
    """One row per combination; `table` has the evaluations of the multiverse's runs."""
    runs = pd.concat([baselines, table.assign(algorithm=table["combination"])])
    evaluations = Evaluations(runs, document.greedy)
    seeds = table.groupby(["environment", "combination"])["seed"].nunique()
    random_of = {fixed: name for name, fixed in document.fixed.items()}
    varied = choices(study)
    rows = []
    for each in study.combinations(config.MULTIVERSE):
        place = each.environment
        name = random_of.get(place, place)
        threshold = document.sentences[SENTENCE].cells[name]
        cell = judge(document, evaluations, (place, each.digest), threshold)
        best = cell.comparisons[0] if cell.comparisons else None
        # The study's own POWR, whose settings are the best evidenced.
        usual = study.algorithms[each.algorithm].settings_on(
            study.environments[place].settings_of or place
        )
        row = {
            "environment": name,
            "start": "fixed" if place in random_of else "random",
            "tier": each.tier,
            "best_evidenced": all(setting(each, key) == usual.get(key) for key in varied),
            **{key: as_text(setting(each, key)) for key in varied},
            "seeds": seeds.get((place, each.digest), 0),
            "seeds_planned": each.seeds,
            "verdict": cell.verdict,
            "effect": cell.effect or cell.reason,
        }
        rows.append(row | {name: best and getattr(best, of) for name, of in NUMBERS.items()})
    return pd.DataFrame(rows).map(rounded)


def choices(study: Study) -> list[str]:
    """The settings that differ on one environment or more, in the order of the study."""
    combinations = study.combinations(config.MULTIVERSE)
    names = dict.fromkeys(key for each in combinations for key in each.varied)
    values = pd.DataFrame(
        {name: as_text(setting(each, name)) for name in names} for each in combinations
    )
    by_environment = values.groupby([each.environment for each in combinations])
    return [name for name in names if by_environment[name].nunique().max() > 1]


def setting(each: Combination, key: str) -> Any:
    return each.settings["algorithm"]["settings"].get(key)


def as_text(value: Any) -> str:
    """A setting to read: a kernel is its name, and one that does not apply is empty."""
    if isinstance(value, dict):
        return str(value["name"])
    return "" if value is None else str(value)


def judge(
    document: Document, evaluations: Evaluations, powr: tuple[str, str], threshold: float
) -> Cell:
    """The main sentence by its rule, against every baseline with the same starts."""
    keys = {
        f"{name}, {source}": (powr[0], algorithm)
        for source, settings in document.sets.items()
        for name, algorithm in settings.baselines.items()
        if (powr[0], algorithm) in evaluations
    }
    if not keys and powr in evaluations:
        return Cell(reason="no run of a baseline with these starts")
    return earlier(Question(evaluations, powr, keys, threshold, document.level))


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many combinations have each verdict, by environment and tier."""
    each = {verdict: (table["verdict"] == verdict).astype(int) for verdict in VERDICTS}
    counted = table.assign(combinations=1, **each).groupby(["environment", "tier"], sort=False)
    return counted[["combinations", *VERDICTS]].sum().reset_index()


def render(table: pd.DataFrame) -> str:
    """multiverse.md: the counts, and a row per combination."""
    finished, planned = table["seeds"].sum(), table["seeds_planned"].sum()
    shown = table.drop(columns=NOT_SHOWN).map(lambda value: "" if pd.isna(value) else str(value))
    shown = shown.replace({"True": "yes", "False": "no"}).rename(
        columns=lambda name: name.replace("_", " ")
    )
    parts = [
        "# POWR under every plausible combination of settings",
        "A combination holds if POWR needs significantly fewer timesteps than every baseline, "
        "under either of its settings, with the same starts.",
        f"{finished} of {planned} runs are finished.",
        *(
            to_markdown([list(rows), *rows.astype(str).to_numpy().tolist()])
            for rows in (counts(table), shown)
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("multiverse", __doc__, "--envs", "--claims", "--results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        results = options.results or study.results
        paths = [results / scale / "evaluations.csv" for scale in BASELINES]
        baselines = pd.concat([read_table(path) for path in paths if path.exists()])
        folder = results / config.MULTIVERSE
        table = universes(
            study,
            load(options.claims),
            read_table(folder / "evaluations.csv"),
            baselines[baselines["algorithm"] != "powr"],
        )
        return {
            folder / "universes.csv": to_csv(table),
            folder / "counts.csv": to_csv(counts(table)),
            folder / "multiverse.md": render(table),
        }

    return write_result(parser.prog, make)
