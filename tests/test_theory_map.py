"""docs/theory.md is complete, and what it points at exists."""

import re

import pytest

from suite.claims import ledger
from suite.claims.page import count_by_kind
from suite.claims.verdicts import OPEN, PROOF_REPAIRED, REFUTED, THEORY_VERDICTS
from tests.support.pointers import ROOT, is_code, is_test

PAGE = (ROOT / "docs" / "theory.md").read_text()
NOTHING = "nothing to test"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
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


def rows(page: str) -> list[list[str]]:
    """The cells of the map, without its head."""
    section = page[page.index("\n## The map") :]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def results(label: str) -> list[str]:
    """What a row is about; ranges of equations are spelt out."""
    found = []
    for part in label.split(", "):
        if part.startswith("Eqs. "):
            (appendix, first), (_, last) = re.findall(r"\(([A-C]\.)?(\d+)\)", part)
            found += [f"({appendix}{n})" for n in range(int(first), int(last) + 1)]
        else:
            found.append(part.removeprefix("Eq. "))
    return found


def pointers(text: str) -> list[str]:
    return re.findall(r"`([^`]+\.py:[^`]+)`", text)


def exists(pointer: str) -> bool:
    return is_test(pointer) if "::" in pointer else is_code(pointer)


ROWS = rows(PAGE)


def test_every_numbered_result_has_one_row():
    found = [result for label, *_ in ROWS for result in results(label)]
    assert sorted(found) == sorted([*EQUATIONS, *RESULTS])


@pytest.mark.parametrize("row", ROWS, ids=[label for label, *_ in ROWS])
def test_row_has_a_status_and_where_it_comes_from(row):
    _, says, code, checks, status = row
    assert says
    verdict, _, reading = status.partition(": ")
    assert verdict in (*THEORY_VERDICTS, NOTHING)
    assert (
        reading or verdict not in (REFUTED, PROOF_REPAIRED, OPEN) or row[0].startswith("Prop. A.2")
    )
    if verdict == NOTHING:
        assert not checks
    else:
        assert pointers(code)
        assert any(pointer.startswith("tests/") and "::" in pointer for pointer in pointers(checks))


def test_page_counts_the_verdicts_as_the_table_has_them():
    document = ledger.load(ROOT / "claims.yaml")
    judged = ledger.read_judged(ROOT / "results" / "paper" / "claims.csv", document)
    counts = count_by_kind(judged, document["sets"])["Theory"]
    identities, bounds, repaired, refuted, unsettled = (WORDS[n] for n in counts.values())
    assert (
        f"Of {sum(counts.values())} sentences {identities} are identities checked, {bounds} bounds "
        f"without a violation, {repaired} proofs repaired, {refuted} refuted as printed, and "
        f"{unsettled} is open."
    ) in PAGE.replace("\n", " ")


def test_every_pointer_of_the_page_exists():
    assert [pointer for pointer in pointers(PAGE) if not exists(pointer)] == []
