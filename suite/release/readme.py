"""The README's table of the paper scale, kept as the tables have it.

python -m suite.release.readme
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from suite import SuiteError, markdown
from suite.command import write_result
from suite.results import summary_page
from suite.results.tables import read_table

README, SUMMARY = Path("README.md"), Path("results/paper/summary.csv")
BEGIN = "<!-- from results/paper/summary.csv, by `make ship` -->\n"
END = "<!-- end -->\n"


def renew(text: str, summary: pd.DataFrame) -> str:
    """The README with the table between its two comments as the summary has it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SuiteError(f"{README}: lacks the lines {BEGIN.strip()} and {END.strip()}")
    return before + begin + block(summary) + end + after


def block(summary: pd.DataFrame) -> str:
    runs = summary.groupby(["environment", "algorithm"])[["seeds", "seeds_planned"]].first().sum()
    there = f"{runs['seeds']} of {runs['seeds_planned']} runs. {summary_page.OVERVIEW_TITLE}"
    return f"{there}\n\n{markdown.table(summary_page.overview(summary))}\n\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="suite.release.readme", description=__doc__.splitlines()[0]
    )
    parser.parse_args(arguments)
    return write_result(
        parser.prog,
        lambda: {README: renew(README.read_text(encoding="utf-8"), read_table(SUMMARY))},
    )


if __name__ == "__main__":
    sys.exit(main())
