"""The verdicts to read, made from their tables: claims.md, and the README's generated parts.

python -m suite readme
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from suite import SuiteError, config
from suite.claims.document import Case, Deviation, Document, load
from suite.claims.rules import FAILS, HOLDS, UNDECIDED
from suite.command import make_parser, write_result
from suite.config import Study, algorithm_name
from suite.config.models import TEXTBOOK
from suite.results.ranking import best_settings, ratios
from suite.results.tables import read_table, to_markdown

IN_PART = "in part"
MARKS = {HOLDS: "✔", IN_PART: "◐", FAILS: "✘", UNDECIDED: "?"}
SENTENCE = "The paper says that POWR ..."
# The cases in the README's table and on the cards of the report.
SHOWN = {
    Case("random", "defaults"): "library defaults",
    Case("random", "authors"): "authors' settings",
    Case("fixed", "authors"): "fixed starts",
}
ABOUT = """A cell is a sentence on one environment. It holds, fails or is undecided, by the [rule of
its sentence](../../docs/replication.md#rules). A sentence holds if all its cells do, is undecided
if all are, and fails if none holds. Evidence: [comparisons](comparisons.csv), [cells](cells.csv),
[what other choices change](sensitivity.csv), the [report](report.html)."""

README = Path("README.md")
EVIDENCE = "results/paper/claims.md"
BEGIN, END = "<!-- {}: by `python -m suite readme` -->\n", "<!-- end -->\n"

Tables = Mapping[str, pd.DataFrame]  # by the names of their files
Rows = Sequence[Sequence[str]]  # of a table to read, the head first


def word_of(verdict: str) -> str:
    return verdict if verdict in MARKS else IN_PART


def mark(verdict: str) -> str:
    """A sign with its word."""
    return f"{MARKS[word_of(verdict)]} {word_of(verdict)}"


def of_case(table: pd.DataFrame, case: Case) -> pd.DataFrame:
    return table[(table["protocol"] == case.protocol) & (table["settings"] == case.settings)]


def of_sentence(tables: Tables, name: str, *kinds: str) -> list[pd.DataFrame]:
    return [tables[kind][tables[kind]["sentence"] == name] for kind in kinds]


def verdicts_of(sentences: pd.DataFrame) -> pd.Series:
    return sentences.set_index(["sentence", "protocol", "settings"])["verdict"]


def marks_of(sentences: pd.DataFrame, cases: Iterable[Case]) -> dict[str, list[str]]:
    """A mark per case, by sentence."""
    verdicts, names = verdicts_of(sentences), sentences["sentence"].unique()
    return {name: [mark(verdicts[(name, *case)]) for case in cases] for name in names}


# -- what was seen, in about a dozen words ---------------------------------------------------------


def seen(cells: pd.DataFrame, comparisons: pd.DataFrame, level: float) -> str:
    """Of one sentence, from its rows of the tables, in the cases that are shown."""
    cells, comparisons = (table.assign(case=case_names(table)) for table in (cells, comparisons))
    cells, comparisons = (table.dropna(subset="case") for table in (cells, comparisons))
    statistics = set(comparisons["statistic"])
    if "difference of returns" in statistics:
        return lower_at(comparisons[comparisons["p_against"] <= level])
    if any(each.startswith("share of runs") for each in statistics):
        return counts(cells)
    return places(cells)


def case_names(table: pd.DataFrame) -> list[str | None]:
    pairs = zip(table["protocol"], table["settings"], strict=True)
    return [SHOWN.get(Case(*pair)) for pair in pairs]


def lower_at(lower: pd.DataFrame) -> str:
    """Where POWR has a significantly lower return than a baseline."""
    where = []
    for environment, rows in lower.groupby("environment", sort=False):
        timesteps = rows["subject"].str.rpartition(" at ")[2].str.replace(",", "").astype(int)
        ends = sorted({timesteps.min(), timesteps.max()})
        where.append(f"on {environment} at {' to '.join(f'{end:,}' for end in ends)}")
    if not where:
        return "POWR's return is never significantly lower"
    names = [name for name in SHOWN.values() if name in set(lower["case"])]
    cases = "" if len(names) == len(SHOWN) else f" with {' and '.join(names)}"
    return f"POWR's return is lower {' and '.join(where)} timesteps{cases}"


def counts(cells: pd.DataFrame) -> str:
    """Runs that reach the return, in the last case; in the last two if a dozen words suffice."""
    effects = cells.dropna(subset="effect").groupby("case")["effect"]
    seen = {str(case): f"{case}: {by_count(each)}" for case, each in effects}
    texts = [seen[case] for case in list(SHOWN.values())[-2:] if case in seen]
    both = ". ".join(texts)
    return both if len(both.split()) <= 12 else texts[-1]


def by_count(effects: Iterable[str]) -> str:
    """POWR, DQN 7 of 7; A2C, PPO, TRPO 0 of 7: algorithms with the same count together."""
    names: dict[str, list[str]] = {}
    for part in ", ".join(effects).split(", "):
        name, _, count = part.partition(" ")
        names.setdefault(count, []).append(name)
    return "; ".join(f"{', '.join(each)} {count}" for count, each in names.items())


def places(cells: pd.DataFrame) -> str:
    """On which environments the sentence holds, by case."""
    where: dict[str, list[str]] = {}
    for environment, rows in cells.groupby("environment", sort=False):
        names = list(rows.loc[rows["verdict"] == HOLDS, "case"])
        when = "" if len(names) == len(SHOWN) else f" with {' and '.join(names)}"
        if not names:
            when = "not on" if (rows["verdict"] == FAILS).any() else "undecided on"
        where.setdefault(when, []).append(str(environment))
    elsewhere = [
        f"; {word} {', '.join(where.pop(word))}"
        for word in ("not on", "undecided on")
        if word in where
    ]
    if not where:
        return "holds nowhere"
    parts = [f"on {', '.join(environments)}{when}" for when, environments in where.items()]
    return f"holds {'; '.join(parts)}{''.join(elsewhere)}"


# -- claims.md -------------------------------------------------------------------------------------


def render(
    document: Document, tables: Tables, deviations: Sequence[Deviation], scale: str, missing: int
) -> str:
    """An index of the verdicts; the evidence is in the tables beside it and the report."""
    sections: dict[str, Rows] = {"Sentences": sentence_rows(document, tables["sentences"])}
    for case in document.cases:
        cells = of_case(tables["cells"], case)
        is_run = (cells["effect"] != "") | ~cells["reason"].str.startswith("no run")
        # FrozenLake-v1 has one start state, so that its cells are the same under each protocol.
        differs = case.protocol == document.cases[0].protocol
        shown = cells[is_run & (cells["environment"].isin(document.fixed) | differs)]
        if shown["effect"].any():
            sections[document.title(case)] = cell_rows(shown)
    sections["Choices that change a cell"] = changes(tables["sensitivity"])
    sections["Theory"] = theory_rows(document, tables["theory"])
    sections["Sentences without a test"] = untested_rows(document)
    parts = [f"# Verdicts at the scale {scale}", ABOUT]
    parts += [f"**Preliminary: {missing} runs are missing.**"] if missing else []
    parts += [f"## {title}\n\n{to_markdown(rows)}" for title, rows in sections.items()]
    parts += ["## Deviations", f"{len(deviations)}, each with its reason: deviations.yaml."]
    return "\n\n".join(parts) + "\n"


def sentence_rows(document: Document, sentences: pd.DataFrame) -> Rows:
    marks = marks_of(sentences, document.cases)
    rows = [
        [f'<a id="{name}"></a>{sentence.short}', *marks[name]]
        for name, sentence in document.sentences.items()
    ]
    return [[SENTENCE, *map(document.title, document.cases)], *rows]


def cell_rows(cells: pd.DataFrame) -> Rows:
    rows = [["sentence", "environment", "verdict", "effect"]]
    for cell in cells.itertuples():
        place = f"{cell.environment}, {cell.threshold:g}"
        effect = "; ".join(filter(None, [cell.effect, cell.reason]))
        rows.append([cell.sentence, place, cell.verdict, effect])
    return rows


def changes(sensitivity: pd.DataFrame) -> Rows:
    """Cells with another verdict under another choice, those of one sentence in one row."""
    rows = [["sentence", "choice", "cells that it changes"]]
    is_changed = sensitivity["verdict"] != sensitivity["as_judged"]
    changed = sensitivity[is_changed & (sensitivity["protocol"] != "published")]
    for (sentence, choice), cells in changed.groupby(["sentence", "choice"], sort=False):
        listed = [
            f"{row.environment} ({row.protocol}, {row.settings}): {row.as_judged} to {row.verdict}"
            for row in cells.itertuples()
        ]
        rows.append([str(sentence), str(choice), "; ".join(listed)])
    return rows


def theory_rows(document: Document, theory: pd.DataFrame) -> Rows:
    verdicts = dict(zip(theory["id"], theory["verdict"], strict=True))
    rows = [[each.claim, each.place, verdicts[each.id]] for each in document.theory]
    return [["statement", "place", "verdict"], *rows]


def untested_rows(document: Document) -> Rows:
    rows = [[f'"{each.quote}" ({each.place})', each.why] for each in document.untested]
    return [["the paper says", "why it has no test"], *rows]


# -- README.md -------------------------------------------------------------------------------------


def readme_parts(study: Study, document: Document, folder: Path) -> dict[str, str]:
    """The generated parts by name, from the tables of the paper scale."""
    names = ("cells", "comparisons", "sentences", "ranking", "summary")
    tables = {name: read_table(folder / f"{name}.csv") for name in names}
    return {
        "answer": answer(study, document, tables),
        "table": to_markdown(readme_rows(document, tables)),
    }


def answer(study: Study, document: Document, tables: Tables) -> str:
    sentences = tables["sentences"]
    main, *_ = document.sentences
    verdicts = verdicts_of(sentences)
    is_true = all(verdicts[main, "random", settings] == HOLDS for settings in document.sets)
    times = ratios(best_settings(tables["summary"]))
    opening = "The main claim replicates" if is_true else "The main claim does not replicate"
    among, holding = len(document.sentences), sentences[sentences["verdict"] == HOLDS]
    number = {case: len(of_case(holding, case)) for case in document.cases}
    best = max(document.cases, key=lambda case: number[case])
    starts, _, settings = document.title(best).partition("; ")
    where = f"with {starts}{',' if ',' in starts else ''} and {settings}"
    where += "" if best in SHOWN else " (not in the table)"
    text = (
        f"**{opening}.** On FrozenLake-v1 (not slippery), Taxi-v3 and MountainCar-v0, POWR reaches "
        f"the reward threshold in {min(times):.1f} to {max(times):.0f} times fewer timesteps "
        "than the best of A2C, DQN, PPO and TRPO under its better settings (medians). "
        f"{classical(study, tables['ranking'])} "
    )
    if number[best] == among:
        return f"{text}All {among} sentences of the paper hold {where}."
    return (
        f"{text}No protocol makes all {among} sentences of the paper true; the most is "
        f"{number[best]}, {where}."
    )


def classical(study: Study, ranking: pd.DataFrame) -> str:
    """Where the best classical baseline has the smaller median, by greedy policies."""
    faster = {}
    greedy = ranking[ranking["policy"] == "deterministic"]
    for environment, rows in greedy.groupby("environment", sort=False):
        rows = rows[rows["threshold"] == study.environments[str(environment)].thresholds[0]]
        times = rows.set_index("algorithm")["median"]
        is_classical = [study.algorithms[name].kind == TEXTBOOK for name in times.index]
        if times[is_classical].min() < times.get("powr-tuned", times["powr"]):
            name = algorithm_name(str(times[is_classical].idxmin()))
            faster[str(environment)] = name.partition(",")[0]
    if not faster:
        return "No classical baseline is faster, with equal tuning."
    names = " and ".join(dict.fromkeys(faster.values()))
    return f"With equal tuning, {names} is faster still on {' and '.join(faster)}."


def readme_rows(document: Document, tables: Tables) -> Rows:
    """One row per sentence: a mark per case, and what was seen."""
    marks = marks_of(tables["sentences"], SHOWN)
    table = [[SENTENCE, *SHOWN.values(), "What we saw"]]
    for name, sentence in document.sentences.items():
        cells, comparisons = of_sentence(tables, name, "cells", "comparisons")
        text = seen(cells, comparisons, document.level)
        table.append([f"[{sentence.short}]({EVIDENCE}#{name})", *marks[name], text])
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
    parser = make_parser(
        "readme", "The README's generated parts.", "--envs", "--claims", "--results"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        study = config.load(options.envs)
        folder = (options.results or study.results) / "paper"
        parts = readme_parts(study, load(options.claims), folder)
        return {README: renew(README.read_text(encoding="utf-8"), parts)}

    return write_result(parser.prog, make)
