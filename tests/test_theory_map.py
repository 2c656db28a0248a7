"""docs/theory.md is complete, and what it points at exists."""

import re

import pytest

from suite.claims import document
from suite.theory import rules
from tests.support.run_files import ROOT

CHECKED = (rules.IDENTITY_CHECKED, rules.NO_VIOLATION)
OTHERS = (
    rules.HOLDS_IN_O_FORM,
    rules.HYPOTHESIS_TOO_WEAK,
    rules.MISPRINT,
    rules.REFUTED,
    rules.OPEN,
)
PAGE = (ROOT / "docs" / "theory.md").read_text()
EQUATIONS = [
    *(f"({n})" for n in range(1, 17)),
    *(f"(A.{n})" for n in range(1, 25)),
    *(f"(B.{n})" for n in range(1, 11)),
    *(f"(C.{n})" for n in range(1, 6)),
]
RESULTS = [
    *("Thm. 1", "Prop. 2", "Prop. 3", "Prop. 4", "Thm. 5", "Cor. 6", "Thm. 7", "Lemma 8", "Thm. 9"),
    *("Asm. 1", "Asm. 2", "Def. 1", "Alg. 1", "Section 5"),
    *("Lemma A.1", "Prop. A.2", "Lemma A.3", "Cor. A.4", "Lemma A.5", "Lemma A.6", "Cor. A.7"),
    *("Def. A.1", "Remark A.1", "Lemma B.1", "Lemma B.2", "Cor. B.3", "Lemma C.1", "Prop. C.2"),
]
SECTION = PAGE[PAGE.index("\n## The map") :]
LINES = [line for line in SECTION.splitlines() if line.startswith("| ")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES[1:]]
(UNTESTED,) = re.findall(r"^Nothing to test: (.*)\.$", SECTION, re.MULTILINE)


def results(labels: str) -> list[str]:
    """What a row is about; ranges of equations are spelt out."""
    found = []
    for label in labels.split(", "):
        if label.startswith("Eqs. "):
            (appendix, first), (_, last) = re.findall(r"\(([A-C]\.)?(\d+)\)", label)
            found += [f"({appendix}{n})" for n in range(int(first), int(last) + 1)]
        else:
            found.append(label.removeprefix("Eq. "))
    return found


def pointers(text: str) -> list[str]:
    return re.findall(r"`([^`]+\.py:[^`]+)`", text)


def exists(pointer: str) -> bool:
    """Whether a file defines what path:Class.name or path::Class::test names."""
    path, *names = re.split(r"::?|(?<=[A-Za-z])\.(?!py:)", pointer)
    text = (ROOT / path).read_text()
    definition = r"^ *(def|class) {0}\b|^ *{0}\b.*="
    return all(re.search(definition.format(name), text, re.MULTILINE) for name in names)


def test_every_numbered_result_has_one_place():
    rows = [result for label, *_ in ROWS for result in results(label.partition(": ")[0])]
    assert sorted(rows + results(UNTESTED)) == sorted([*EQUATIONS, *RESULTS])


@pytest.mark.parametrize("row", ROWS, ids=[label for label, *_ in ROWS])
def test_row_has_a_status_and_where_it_comes_from(row):
    label, code, checks, status = row
    verdict, _, reading = status.partition(": ")
    assert label.partition(": ")[2]
    assert verdict in CHECKED or (verdict in OTHERS and reading)
    assert pointers(code)
    assert any(pointer.startswith("tests/") and "::" in pointer for pointer in pointers(checks))


def test_every_pointer_exists():
    theorems = document.load(ROOT / "claims.yaml").theory
    named = [*pointers(PAGE), *(test for theorem in theorems for test in theorem.tests)]
    assert [pointer for pointer in named if not exists(pointer)] == []
