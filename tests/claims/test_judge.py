"""Cases, cells and the verdicts on sentences, from evaluations to tables and the README."""

import pandas as pd
import pytest

from suite import readme
from suite.claims import document, judge, tables, words
from suite.claims.cells import FAILS, HOLDS, UNDECIDED, Cell
from suite.claims.judge import Case, Judged
from suite.claims.runs import Evaluations
from tests.claims.test_rules import SPREAD, arriving
from tests.support.pointers import ROOT

TEXT = document.load(ROOT / "claims.yaml")
RANDOM, FIXED = Case("random", "authors"), Case("fixed", "authors")
PUBLISHED = Case("published", "authors")
BASELINES = TEXT.sets["authors"].baselines.values()


def runs(environment, algorithm, times):
    return arriving(times, high=6.0).assign(environment=environment, algorithm=algorithm)


@pytest.fixture(scope="module")
def evaluations():
    """POWR is earlier with fixed starts, the baselines are earlier with random ones."""
    found = []
    for environment, powr, baseline in (("Taxi-v3", 9000, 1000), ("Taxi-v3-fixed", 3000, 30_000)):
        found.append(runs(environment, "powr", powr * SPREAD))
        found += [runs(environment, name, baseline * SPREAD) for name in BASELINES]
    return Evaluations(pd.concat(found), set(TEXT.greedy))


def test_a_protocol_says_whose_runs_start_where(evaluations):
    def verdict(case):
        return judge.judge(TEXT, evaluations, "quicker", case, "Taxi-v3").verdict

    assert (verdict(RANDOM), verdict(FIXED)) == (FAILS, HOLDS)
    assert verdict(PUBLISHED) == FAILS  # POWR at 3,000 is later than the baselines at 1,000
    question = judge.question_of(TEXT, evaluations, PUBLISHED, "Taxi-v3", 6)
    assert question.powr == ("Taxi-v3-fixed", "powr")
    assert set(question.baselines.values()) == {("Taxi-v3", name) for name in BASELINES}
    assert verdict(Case("random", "defaults")) == UNDECIDED  # no run of them


def test_the_verdict_on_a_sentence_follows_from_its_cells():
    def verdict(*cells):
        return judge.verdict_of(
            [Judged("s", RANDOM, f"env{i}", 0, Cell(each, "")) for i, each in enumerate(cells)]
        )

    assert verdict(HOLDS, HOLDS) == HOLDS
    assert verdict(HOLDS, UNDECIDED, FAILS, HOLDS) == "holds on env0, env3"
    assert verdict(FAILS, UNDECIDED) == FAILS
    assert verdict(UNDECIDED, UNDECIDED) == UNDECIDED


def test_tables_and_words_say_what_was_judged(evaluations):
    judged = judge.judge_all(TEXT, evaluations)
    assert len(judged) == 6 * (5 * 3 + 3)
    cells = tables.cells(judged).set_index(["protocol", "settings", "sentence", "environment"])
    row = cells.loc["fixed", "authors", "quicker", "Taxi-v3"]
    assert row["verdict"] == HOLDS
    assert row["low"] < row["value"] < row["high"]
    assert row["value"] == pytest.approx(10, rel=0.2)
    compared = tables.comparisons(judged)
    assert set(compared["subject"]) >= {"A2C", "DQN", "PPO", "TRPO"}
    sentences = tables.sentences(judged).set_index(["sentence", "protocol", "settings"])
    assert sentences.loc[("quicker", "fixed", "authors"), "verdict"] == "holds on Taxi-v3"
    changed = tables.sensitivity(judged, list(judge.sensitivities(TEXT, evaluations)))
    assert (changed["as_judged"] == HOLDS).sum() > 0
    shown = {FIXED: "fixed starts"}
    own = [table[table["sentence"] == "quicker"] for table in (cells.reset_index(), compared)]
    assert words.seen(*own, shown) == "holds on Taxi-v3; not on FrozenLake-v1, MountainCar-v0"
    assert words.mark("holds on Taxi-v3") == "◐ in part"


def test_counts_of_seeds_are_told_by_count():
    assert (
        words.short_counts("POWR 7 of 7, DQN 7 of 7, A2C 0 of 7") == "POWR, DQN 7 of 7; A2C 0 of 7"
    )


def test_generated_parts_replace_what_is_between_their_comments():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    renewed = readme.renew(text, {"answer": "Yes.", "table": "| a |"})
    assert "Yes." in renewed
    assert renewed.split("## Use it for")[1] == text.split("## Use it for")[1]
    assert readme.renew(renewed, {"answer": "Yes.", "table": "| a |"}) == renewed
    with pytest.raises(Exception, match="answer"):
        readme.renew("# no comments", {"answer": "Yes."})
