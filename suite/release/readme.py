"""The README's generated parts, kept as the shipped tables have them.

python -m suite readme
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from suite import SuiteError, config, markdown, multiverse
from suite.claims import ledger
from suite.command import make_parser, write_result
from suite.release import answer
from suite.results.tables import read_table

README = Path("README.md")
SCALE = Path("results/paper")
BEGIN = "<!-- {}: by `python -m suite readme` -->\n"
END = "<!-- end -->\n"


def blocks(root: Path) -> dict[str, str]:
    """The generated parts by name."""
    document = ledger.load(root / "claims.yaml")
    judged = ledger.read_judged(root / SCALE / "claims.csv", document)
    algorithms = config.load(root / "envs.yaml").algorithms
    summary = read_table(root / SCALE / "summary.csv")
    summary["class"] = [algorithms[name].class_ for name in summary["algorithm"]]
    found = multiverse.read(root / "results")
    return {
        "answer": "**" + answer.answer(judged, document, found).replace(".", ".**", 1),
        "table": markdown.table(answer.table(judged, document, found, summary)),
        "beyond": answer.beyond(summary),
    }


def renew(text: str, parts: Mapping[str, str]) -> str:
    """The README with these parts between their comments."""
    for name, part in parts.items():
        begin = BEGIN.format(name)
        before, found, rest = text.partition(begin)
        _, end, after = rest.partition(END)
        if not (found and end):
            raise SuiteError(f"{README}: lacks the lines {begin.strip()} and {END.strip()}")
        text = f"{before}{begin}\n{part}\n\n{end}{after}"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("readme", __doc__)
    parser.parse_args(arguments)
    return write_result(
        parser.prog,
        lambda: {README: renew(README.read_text(encoding="utf-8"), blocks(Path()))},
    )
