"""The README's generated parts, from the verdicts of the paper scale: the answer and the table.

python -m suite readme
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from suite import SuiteError, config, markdown
from suite.claims import document as documents
from suite.claims.cells import HOLDS
from suite.claims.document import Document
from suite.claims.judge import Case
from suite.claims.words import mark, seen
from suite.command import make_parser, write_result
from suite.config import Study
from suite.config.models import TEXTBOOK
from suite.names import algorithm_name
from suite.plots.answer import best_settings, ratio
from suite.results.tables import read_table

README = Path("README.md")
EVIDENCE = "results/paper/claims.md"
BEGIN, END = "<!-- {}: by `python -m suite readme` -->\n", "<!-- end -->\n"
# The columns of the table.
SHOWN = {
    Case("random", "defaults"): "SB3 defaults",
    Case("random", "authors"): "authors' settings",
    Case("fixed", "authors"): "fixed starts",
}


def parts(study: Study, document: Document, folder: Path) -> dict[str, str]:
    """The generated parts by name."""
    cells, comparisons, sentences, ranking, summary = (
        read_table(folder / f"{name}.csv")
        for name in ("cells", "comparisons", "sentences", "ranking", "summary")
    )
    return {
        "answer": answer(study, document, sentences, ranking, summary),
        "table": markdown.table(list(rows(document, cells, comparisons, sentences))),
    }


def answer(
    study: Study,
    document: Document,
    sentences: pd.DataFrame,
    ranking: pd.DataFrame,
    summary: pd.DataFrame,
) -> str:
    main, *_ = document.sentences
    verdicts = sentences.set_index(["sentence", "protocol", "settings"])["verdict"]
    is_true = all(verdicts[main, "random", settings] == HOLDS for settings in document.sets)
    shown = best_settings(summary)
    ratios = [ratio(rows)[0] for _, rows in shown.groupby("environment", sort=False)]
    times = f"{min(ratios):.1f} to {max(ratios):.0f}"
    opening = "The main claim replicates" if is_true else "The main claim does not replicate"
    held = (sentences["verdict"] == HOLDS).groupby(
        [sentences["protocol"], sentences["settings"]], sort=False
    )
    protocol, settings = held.sum().idxmax()
    number, among = int(held.sum().max()), len(document.sentences)
    where = f"with {document.protocols[protocol].label}, and {document.sets[settings].label}"
    if Case(protocol, settings) not in SHOWN:
        where += " (not in the table)"
    return (
        f"**{opening}.** On FrozenLake-v1 (not slippery), Taxi-v3 and MountainCar-v0, POWR reaches "
        f"the reward threshold in {times} times fewer timesteps than the best of A2C, DQN, PPO "
        f"and TRPO under its better settings (medians). {classical(study, ranking)}"
        + (
            f" All {among} sentences of the paper hold {where}."
            if number == among
            else f" No protocol makes all {among} sentences of the paper true; the best makes "
            f"{number} true, {where}."
        )
    )


def classical(study: Study, ranking: pd.DataFrame) -> str:
    """Where the best classical baseline has the smaller median, by greedy policies."""
    greedy = ranking[ranking["policy"] == "deterministic"]
    faster = []
    for environment, rows in greedy.groupby("environment", sort=False):
        rows = rows[rows["threshold"] == study.environments[str(environment)].thresholds[0]]
        times = rows.set_index("algorithm")["median"]
        kinds = {name: study.algorithms[name].kind for name in times.index}
        own = times.get("powr-tuned", times["powr"])
        rivals = times[[kinds[name] == TEXTBOOK for name in times.index]]
        if rivals.min() < own:
            name = algorithm_name(str(rivals.idxmin())).partition(",")[0]
            faster.append((name, environment))
    if not faster:
        return "No classical baseline is faster, with equal tuning."
    names = " and ".join(dict.fromkeys(name for name, _ in faster))
    return f"With equal tuning, {names} is faster still on {' and '.join(e for _, e in faster)}."


def rows(
    document: Document, cells: pd.DataFrame, comparisons: pd.DataFrame, sentences: pd.DataFrame
) -> Sequence[Sequence[str]]:
    """One row per sentence: a mark per case, and what was seen."""
    verdicts = sentences.set_index(["sentence", "protocol", "settings"])["verdict"]
    table = [["The paper says that POWR ...", *SHOWN.values(), "What we saw"]]
    for name, sentence in document.sentences.items():
        marks = [mark(verdicts[(name, *case)]) for case in SHOWN]
        own = cells[cells["sentence"] == name], comparisons[comparisons["sentence"] == name]
        table.append([f"[{sentence.short}]({EVIDENCE}#{name})", *marks, seen(*own, SHOWN)])
    return table


def renew(text: str, generated: Mapping[str, str]) -> str:
    """The README with these parts between their comments."""
    for name, part in generated.items():
        begin = BEGIN.format(name)
        before, found, rest = text.partition(begin)
        _, end, after = rest.partition(END)
        if not (found and end):
            raise SuiteError(f"{README}: lacks the lines {begin.strip()} and {END.strip()}")
        text = f"{before}{begin}\n{part}\n\n{end}{after}"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("readme", __doc__, "--envs", "--claims", "--results")
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        folder = (options.results or study.results) / "paper"
        found = parts(study, documents.load(options.claims), folder)
        return {README: renew(README.read_text(encoding="utf-8"), found)}

    return write_result(parser.prog, make)
