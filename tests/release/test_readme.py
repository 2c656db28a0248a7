"""The README's generated parts: in their places, and with no number that is not in a table."""

import pandas as pd
import pytest

from suite import SuiteError
from suite.claims import ledger
from suite.claims.ledger import Judged
from suite.claims.verdicts import Finding, Outcome
from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY, POWR, TEXTBOOK
from suite.multiverse.shares import Share
from suite.release import answer, readme
from tests.support.replication import ROOT

NAN = float("nan")
RUNS = [
    # algorithm, kind, policy, threshold, reached, median, earliest, latest, final return
    ("powr", POWR, "deterministic", 6, 7, 11_111, 9_001, 12_001, 7.5),
    ("powr", POWR, "deterministic", 8, 6, 13_111, 9_002, NAN, 7.5),
    ("powr", POWR, "sampled", 6, 7, 22_222, 19_001, 25_001, 7.25),
    ("dqn", DEEP_OF_SOURCE[LIBRARY], "deterministic", 6, 0, NAN, NAN, NAN, -143.5),
    ("dqn", DEEP_OF_SOURCE[LIBRARY], "deterministic", 8, 0, NAN, NAN, NAN, -143.5),
    ("dqn-authors", DEEP_OF_SOURCE[AUTHORS], "deterministic", 6, 7, 77_777, 7_001, 7_002, 6.5),
    ("ppo", DEEP_OF_SOURCE[LIBRARY], "deterministic", 6, 2, NAN, 5_001, NAN, -200.0),
    ("rmax", TEXTBOOK, "deterministic", 6, 7, 3_333, 3_001, 4_001, 7.75),
]
COLUMNS = ["algorithm", "kind", "policy", "threshold", "n_reached", "timesteps_to_threshold"]
SUMMARY = pd.DataFrame(RUNS, columns=[*COLUMNS, "earliest", "latest", "final_mean"])
# Classes are asked for, and not how an algorithm's name begins.
CLASSES = [name.removesuffix("-authors").replace("-", "_") for name in SUMMARY["algorithm"]]
SUMMARY = SUMMARY.assign(environment="Taxi-v3", seeds=7).assign(**{"class": CLASSES})


@pytest.fixture(scope="module")
def document():
    return ledger.load(ROOT / "claims.yaml")


def judge(document, verdict="reproduced"):
    """Every claim that has sets with one verdict, and three findings, two of which support it."""
    findings = [Finding("E", "s", 1.0, supports=each) for each in (True, True, False)]
    return [
        Judged(claim, Outcome(verdict, findings), False, [], against)
        for claim, against, _ in ledger.questions(document)
        if against
    ]


def share(claim, against, holds, universes):
    return Share(claim, against, "all", "", universes, universes, holds, holds / universes)


def test_parts_are_renewed_between_their_comments():
    begin = readme.BEGIN.format("answer")
    text = f"before\n{begin}old\n{readme.END}after\n"
    new = readme.renew(text, {"answer": "new"})
    assert new == f"before\n{begin}\nnew\n\n{readme.END}after\n"
    assert readme.renew(new, {"answer": "new"}) == new
    with pytest.raises(SuiteError, match=r"README\.md: lacks the lines .*table"):
        readme.renew(text, {"table": "new"})


def test_one_row_per_sentence_with_both_verdicts_and_what_was_seen(document):
    head, *rows = answer.table(judge(document), document, [], SUMMARY)
    assert head[1:3] == ("against library defaults", "against authors' probable settings")
    assert len(rows) == 8
    sentences = answer.experiments(judge(document), document)
    seen = dict(zip(sentences, (row[-1] for row in rows), strict=True))
    assert "22,222" in seen["quicker"]
    assert "77,777" in seen["quicker"]
    assert seen["taxi-eight"] == "POWR: 6 of 7 runs; DQN: 0 of 7 runs"
    assert seen["taxi-six-ppo"] == "PPO: 2 of 7 runs"
    assert seen["local-optimum"] == (
        "mean return at the end: POWR 7.5; DQN -143.5; DQN, authors 6.5; the others at most -200.0"
    )


def test_shares_are_those_of_the_last_row_of_each_part(document):
    quicker = answer.experiments(judge(document), document)["quicker"]
    first, second, *_ = quicker.claims
    shares = [
        *(share(first, "defaults", 1, 16), share(first, "defaults", 12, 16)),
        *(share(second, "defaults", 0, 16), share(first, "authors", 16, 16)),
    ]
    assert answer.share_texts(quicker, shares, document["sets"]) == ["38%", "100%"]
    untested = shares[1]._replace(tested=0, holds=0)
    assert answer.share_texts(quicker, [shares[0], untested], document["sets"]) == ["", ""]


def test_the_answer_counts_sentences_and_says_where_it_is_preliminary(document):
    text = answer.answer(judge(document), document, [])
    assert text.count("8 hold in full and 0 in part against baselines with") == 2
    assert text.startswith("The paper's main claim replicates. ")
    assert "than every baseline in 6 of 6 cases against baselines with library" in text
    early = [entry._replace(preliminary=True) for entry in judge(document)]
    assert answer.answer(early, document, []).startswith("Preliminary. ")


def test_textbook_methods_are_named(document):
    text = answer.beyond(SUMMARY)
    assert "a textbook method needs fewer timesteps than POWR on 1 of 1 environments" in text
    assert "11,111 for POWR and 3,333 (R-max)" in text
    assert "POWR on 0 of 1 " in answer.beyond(SUMMARY.replace(3_333, 99_999))
