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

from suite import config, markdown
from suite.claims.document import Document, load
from suite.claims.evaluations import Evaluations
from suite.claims.judge import rounded
from suite.claims.rules import FAILS, HOLDS, UNDECIDED, Question, earlier
from suite.command import make_parser, write_result
from suite.config import Combination, Study
from suite.results.tables import read_table, to_csv

SENTENCE = "quicker"
VERDICTS = (HOLDS, UNDECIDED, FAILS)
BASELINES = ("paper", "fixed-starts")  # the scales that have runs of baselines
NUMBERS = ("ratio", "low", "high", "is_bound", "best")


def universes(
    study: Study, document: Document, table: pd.DataFrame, baselines: pd.DataFrame
) -> pd.DataFrame:
    """One row per combination; `table` has the evaluations of the multiverse's runs."""
    by_digest = dict(iter(table.groupby(["environment", "combination"], sort=False)))
    varied = choices(study)
    rows = []
    for each in study.combinations(config.MULTIVERSE):
        runs = by_digest.get((each.environment, each.digest))
        name, start = plain_name(document, each.environment)
        row = {
            "environment": name,
            "start": start,
            "tier": each.tier,
            "best_evidenced": is_best_evidenced(study, each),
            **{key: as_text(setting(each, key)) for key in varied},
            "seeds": 0 if runs is None else runs["seed"].nunique(),
            "seeds_planned": each.seeds,
        }
        rows.append(row | judge(document, each, runs, baselines))
    return pd.DataFrame(rows)


def choices(study: Study) -> list[str]:
    """The settings that differ between combinations, in the order of the study."""
    combinations = study.combinations(config.MULTIVERSE)
    names = dict.fromkeys(key for each in combinations for key in each.varied)
    return [key for key in names if len({as_text(setting(each, key)) for each in combinations}) > 1]


def setting(each: Combination, key: str) -> Any:
    return each.settings["algorithm"]["settings"].get(key)


def as_text(value: Any) -> str:
    """A setting to read: a kernel is its name, and one that does not apply is empty."""
    if isinstance(value, dict):
        return str(value["name"])
    return "" if value is None else str(value)


def is_best_evidenced(study: Study, each: Combination) -> bool:
    """Whether it has the settings of the study's own POWR, as far as they differ between any."""
    environment = study.environments[each.environment].settings_of or each.environment
    usual = study.algorithms[each.algorithm].settings_on(environment)
    return all(setting(each, key) == usual.get(key) for key in choices(study))


def plain_name(document: Document, environment: str) -> tuple[str, str]:
    """The environment without its starts, and the starts."""
    for name, fixed in document.fixed.items():
        if environment == fixed:
            return name, "fixed"
    return environment, "random"


def judge(
    document: Document, each: Combination, runs: pd.DataFrame | None, baselines: pd.DataFrame
) -> dict[str, Any]:
    """The verdict of the main sentence's rule, against every baseline with these starts."""
    place = each.environment
    present = set(baselines.loc[baselines["environment"] == place, "algorithm"])
    rivals = {
        f"{name}, {key}": (place, algorithm)
        for key, settings in document.sets.items()
        for name, algorithm in settings.baselines.items()
        if algorithm in present
    }
    if runs is None or not rivals:
        reason = "no run of POWR" if runs is None else "no run of a baseline with these starts"
        return {"verdict": UNDECIDED, "effect": reason}
    evaluations = Evaluations(
        pd.concat([baselines, runs.assign(algorithm="universe")]), document.greedy
    )
    threshold = document.sentences[SENTENCE].cells[plain_name(document, place)[0]]
    question = Question(evaluations, (place, "universe"), rivals, threshold, document.level)
    cell = earlier(question)
    row: dict[str, Any] = {"verdict": cell.verdict, "effect": cell.effect or cell.reason}
    if cell.comparisons:
        best = cell.comparisons[0]
        low, high = best.low, best.high
        row |= {"ratio": rounded(best.value), "low": rounded(low), "high": rounded(high)}
        row |= {"is_bound": best.is_bound, "best": best.subject, "reached": best.seeds}
    return row


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many combinations have each verdict, by environment and tier."""
    rows = []
    for (environment, tier), group in table.groupby(["environment", "tier"], sort=False):
        found = group["verdict"].value_counts()
        row = {"environment": environment, "tier": tier, "combinations": len(group)}
        rows.append(row | {verdict: int(found.get(verdict, 0)) for verdict in VERDICTS})
    return pd.DataFrame(rows)


def render(table: pd.DataFrame) -> str:
    """multiverse.md: the counts, and a row per combination."""
    counted = counts(table)
    finished, planned = table["seeds"].sum(), table["seeds_planned"].sum()
    shown = [name for name in table if name not in ("seeds", "seeds_planned", *NUMBERS)]
    rows = table[shown].map(lambda value: "" if pd.isna(value) else str(value)).to_numpy().tolist()
    parts = [
        "# POWR under every plausible combination of settings",
        "A combination holds if POWR needs significantly fewer timesteps than every baseline, "
        "under either of its settings, with the same starts.",
        f"{finished} of {planned} runs are finished.",
        markdown.table([list(counted), *counted.astype(str).to_numpy().tolist()]),
        markdown.table([shown, *rows]),
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
