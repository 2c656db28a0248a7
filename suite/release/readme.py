"""The README's verdicts and table of the paper scale, kept as the tables have them.

python -m suite readme
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from suite import SuiteError, markdown
from suite.claims import ledger
from suite.claims.page import count_by_kind
from suite.claims.verdicts import THEORY_VERDICTS, VERDICTS
from suite.command import make_parser, write_result
from suite.config.kinds import LIBRARY
from suite.results import summary_page
from suite.results.tables import read_table

README = Path("README.md")
SUMMARY, CLAIMS = Path("results/paper/summary.csv"), Path("results/paper/claims.csv")
BEGIN = "<!-- from results/paper/summary.csv, by `make ship` -->\n"
BEGIN_VERDICTS = "<!-- verdicts: from results/paper/claims.csv, by `make ship` -->\n"
END = "<!-- end -->\n"


def renew(text: str, summary: pd.DataFrame, counts: Mapping[str, Mapping[str, int]]) -> str:
    """The README with its two generated blocks as the tables have them."""
    text = replace_block(text, BEGIN_VERDICTS, "\n" + count_table(counts) + "\n\n")
    return replace_block(text, BEGIN, block(summary))


def replace_block(text: str, begin: str, content: str) -> str:
    before, found, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    if not (found and end):
        raise SuiteError(f"{README}: lacks the lines {begin.strip()} and {END.strip()}")
    return before + begin + content + end + after


def read_counts(root: Path) -> dict[str, dict[str, int]]:
    """The counts of the verdicts in claims.csv."""
    document = ledger.load(root / "claims.yaml")
    return count_by_kind(ledger.read_judged(root / CLAIMS, document), document["sets"])


def count_table(counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many sentences of each kind have each verdict: experiments, then theory."""
    tables = []
    for head, verdicts in (("sentences of the paper", VERDICTS), ("", THEORY_VERDICTS)):
        rows = [
            [kind, *(str(found[verdict]) for verdict in verdicts)]
            for kind, found in counts.items()
            if set(found) == set(verdicts)
        ]
        if rows:
            tables.append(markdown.table([[head, *verdicts], *rows]))
    return "\n\n".join(tables)


def block(summary: pd.DataFrame) -> str:
    """What the paper shows, POWR and its baselines as their libraries have them."""
    summary = summary[summary["source"] == LIBRARY]
    runs = summary.groupby(["environment", "algorithm"])[["seeds", "seeds_planned"]].first().sum()
    there = f"{runs['seeds']} of {runs['seeds_planned']} runs with {LIBRARY}."
    table = markdown.table(summary_page.overview(summary))
    return f"{there} {summary_page.OVERVIEW_TITLE}\n\n{table}\n\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("readme", __doc__)
    parser.parse_args(arguments)
    return write_result(
        parser.prog,
        lambda: {
            README: renew(
                README.read_text(encoding="utf-8"), read_table(SUMMARY), read_counts(Path())
            )
        },
    )
