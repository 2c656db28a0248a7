"""The tables of results in the extension's README, from its shipped tables.

python -m extension.readme
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from extension.sample_efficiency import ablations, in_words
from suite import markdown
from suite.command import write_together
from suite.names import algorithm_name
from suite.results.tables import read_table

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
BEGIN = "<!-- {}: by `python -m extension.readme` -->\n"
END = "<!-- end -->\n"
OWN, PAPERS = "optimistic-powr", "powr-default"


def compared(ranking: pd.DataFrame) -> str:
    """Median timesteps to threshold, first and lasting, beside the best of the others."""
    rows = [("environment, threshold", "OptimisticPOWR", "POWR, default settings", "best other")]
    for environment, table in ranking[ranking["policy"] == "deterministic"].groupby(
        "environment", sort=False
    ):
        by_name = table.set_index("algorithm")
        others = by_name.drop([OWN, PAPERS])
        best = others["median"].fillna(float("inf")).idxmin()
        rows.append(
            (
                f"{environment}, {by_name.loc[OWN, 'threshold']:g}",
                times(by_name.loc[OWN]),
                times(by_name.loc[PAPERS]),
                f"{times(by_name.loc[best])} ({algorithm_name(best)})",
            )
        )
    return markdown.table(rows)


def times(row: pd.Series) -> str:
    return f"{in_words(row['median'])} / {in_words(row['median_lasting'])}"


def renew(text: str, parts: dict[str, str]) -> str:
    """The README with these parts between their comments."""
    for name, part in parts.items():
        before, begin, rest = text.partition(BEGIN.format(name))
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise ValueError(f"{README}: lacks {BEGIN.format(name).strip()} and {END.strip()}")
        text = f"{before}{begin}\n{part}\n\n{end}{after}"
    return text


def main() -> None:
    results = FOLDER / "results"
    parts = {
        "results": compared(read_table(results / "sample-efficiency" / "ranking.csv")),
        "ablations": ablations(read_table(results / "ablations" / "ablations.csv")),
    }
    text = renew(README.read_text(encoding="utf-8"), parts)
    write_together({README: text})


if __name__ == "__main__":
    main()
