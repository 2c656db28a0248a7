"""Cases, cells and the verdicts on sentences, from evaluations to tables and the README."""

import pandas as pd
import pytest

from suite import SuiteError
from suite.claims import document, judge, page
from suite.claims.document import Case
from suite.claims.evaluations import Evaluations
from suite.claims.rules import FAILS, HOLDS, UNDECIDED
from tests.claims.test_rules import SPREAD, reaching_at
from tests.support.run_files import ROOT

TEXT = document.load(ROOT / "claims.yaml")
RANDOM, FIXED = Case("random", "authors"), Case("fixed", "authors")
PUBLISHED = Case("published", "authors")
BASELINES = TEXT.sets["authors"].baselines.values()


def runs(environment, algorithm, times):
    return reaching_at(times, high=6.0).assign(environment=environment, algorithm=algorithm)


@pytest.fixture(scope="module")
def evaluations():
    """POWR is earlier with fixed starts, the baselines are earlier with random ones."""
    tables = []
    for environment, powr, baseline in (("Taxi-v3", 9000, 1000), ("Taxi-v3-fixed", 3000, 30_000)):
        tables.append(runs(environment, "powr", powr * SPREAD))
        tables += [runs(environment, name, baseline * SPREAD) for name in BASELINES]
    return Evaluations(pd.concat(tables), TEXT.greedy)


@pytest.fixture(scope="module")
def tables(evaluations):
    return judge.tabulate(TEXT, evaluations)


def test_a_protocol_says_whose_runs_start_where(evaluations):
    def verdict(case):
        return judge.judge(TEXT, evaluations, "quicker", case, "Taxi-v3").verdict

    assert (verdict(RANDOM), verdict(FIXED)) == (FAILS, HOLDS)
    assert verdict(PUBLISHED) == FAILS  # POWR at 3,000 is later than the baselines at 1,000
    assert verdict(Case("random", "defaults")) == UNDECIDED  # no run of them


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([HOLDS, UNDECIDED, FAILS, HOLDS], "holds on env0, env3"),
        ([FAILS, UNDECIDED], FAILS),
        ([UNDECIDED, UNDECIDED], UNDECIDED),
    ],
)
def test_the_verdict_on_a_sentence_follows_from_its_cells(cells, verdict):
    names = [f"env{i}" for i in range(len(cells))]
    table = pd.DataFrame({"environment": names, "verdict": cells})
    assert judge.verdict_of(table) == verdict


def test_tables_and_words_say_what_was_judged(tables):
    assert len(tables["cells"]) == 6 * (5 * 3 + 3)
    cells = tables["cells"].set_index(["protocol", "settings", "sentence", "environment"])
    row = cells.loc["fixed", "authors", "quicker", "Taxi-v3"]
    assert row["verdict"] == HOLDS
    assert row["low"] < row["value"] < row["high"]
    assert row["value"] == pytest.approx(10, rel=0.2)
    assert row["improvement_low"] <= row["improvement"] <= row["improvement_high"]
    assert set(tables["comparisons"]["subject"]) >= {"A2C", "DQN", "PPO", "TRPO"}
    verdicts = page.verdicts_of(tables["sentences"])
    assert verdicts["quicker", "fixed", "authors"] == "holds on Taxi-v3"
    changed = tables["sensitivity"].query("sentence == 'quicker' and environment == 'Taxi-v3'")
    assert (changed["as_judged"] == HOLDS).sum() == len(TEXT.sentences["quicker"].sensitivities)
    own = [tables[name][tables[name]["sentence"] == "quicker"] for name in ("cells", "comparisons")]
    held = "holds on Taxi-v3 with fixed starts; undecided on FrozenLake-v1, MountainCar-v0"
    assert page.seen(*own, TEXT.level) == held
    assert page.mark("holds on Taxi-v3") == "◐ in part"


def test_counts_of_seeds_are_told_by_count():
    effects = ["POWR 7 of 7, DQN 7 of 7, A2C 0 of 7", "POWR 7 of 7, DQN 6 of 7, A2C 0 of 7"]
    cells = pd.DataFrame({"case": ["authors' settings", "fixed starts"], "effect": effects})
    assert page.counts(cells) == "fixed starts: POWR 7 of 7; DQN 6 of 7; A2C 0 of 7"
    cells["effect"] = ["PPO 0 of 7", "PPO 4 of 7"]
    assert page.counts(cells) == "authors' settings: PPO 0 of 7. fixed starts: PPO 4 of 7"


def test_generated_parts_replace_what_is_between_their_comments():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    renewed = page.renew(text, {"answer": "Yes.", "table": "| a |"})
    assert "Yes." in renewed
    assert renewed.split("## Use it for")[1] == text.split("## Use it for")[1]
    assert page.renew(renewed, {"answer": "Yes.", "table": "| a |"}) == renewed
    with pytest.raises(SuiteError, match="answer"):
        page.renew("# no comments", {"answer": "Yes."})
