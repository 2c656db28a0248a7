"""Verdicts from run files: what is missing is said, and claims.yaml is sound."""

from pathlib import Path

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.claims import ledger
from suite.claims.page import (
    Group,
    by_claim,
    condition,
    count_by_kind,
    group_of,
    joint_text,
    joint_verdict,
    sentences,
    verdict_text,
)
from suite.claims.rules.comparisons import Times
from suite.results import aggregate
from suite.results.statistics import Interval
from suite.results.tables import read_results, to_csv
from tests.support.pointers import is_test
from tests.support.run_files import RAW, STUDY, clock, csv_text, run_of, study_of, write_run

ROOT = Path(__file__).parents[2]
OTHER = {"name": "other settings", "label": "other", "counterparts": {"dqn": "dqn-other"}}
CLAIMS = {
    "scale": "tiny",
    "level": 0.05,
    "sets": {
        "defaults": {"name": "defaults", "label": "defaults", "counterparts": {}},
        "other": OTHER,
    },
    "rules": {"earlier": {"statistic": "the statistic", "decision": "the decision"}},
    "claims": [
        {
            "id": "earlier-frozenlake",
            "claim": "POWR is earlier.",
            "place": "Figure 2",
            "quote": "quicker",
            "rule": "earlier",
            "parameters": Times(
                thresholds={"FrozenLake-v1": 0.8}, algorithm="powr", others=["dqn"]
            ),
        }
    ],
}
DEPARTURES = [
    {
        "id": "a-deviation",
        "of": "the study",
        "what": "The ice.",
        "why": "Reasons.",
        "effect": "None.",
        "touches": ["earlier-frozenlake"],
    }
]


@pytest.fixture
def results(tmp_path):
    """POWR is at 0.8 from the second evaluation on, DQN from the third."""
    for environment in STUDY.environments:
        for seed in range(3):
            write_run(
                tmp_path,
                run_of(environment, "powr", seed),
                csv_text({100: 0.0, 1000: 0.9, **({5000: 0.9} if "Frozen" in environment else {})}),
                **clock({100: 0}, 0.1, 1.0),
            )
            write_run(
                tmp_path,
                run_of(environment, "dqn", seed),
                csv_text({100: 0.0, 1000: 0.0, 5000: 0.9}),
                **clock({100: 0}, 0.1, 1.0),
            )
    return tmp_path


def write_tables(results, study=STUDY):
    for name, text in aggregate.aggregate(study, "tiny", results, partial=True).items():
        (results / "tiny" / name).write_text(text)


def gathered(results, study=STUDY):
    """What judge_all takes beside the claims."""
    write_tables(results, study)
    tables = read_results(study, "tiny", results / "tiny")
    optima = ledger.read_optima(results / "tiny")
    return ledger.gather(study, "tiny", tables, optima), "tiny", tables


def judge(results, scale_of_paper="tiny", partial=False, others=("dqn",), study=STUDY):
    claim = CLAIMS["claims"][0]
    parameters = claim["parameters"].model_copy(update={"others": list(others)})
    document = {
        **CLAIMS,
        "scale": scale_of_paper,
        "claims": [{**claim, "parameters": parameters}],
    }
    (judged,) = ledger.judge_all(document, *gathered(results, study), partial)
    return judged


def remove(results, algorithm, *seeds):
    for seed in seeds:
        (results / run_of("FrozenLake-v1", algorithm, seed).path).unlink()


class TestVerdict:
    def test_follows_the_data(self, results):
        judged = judge(results)
        assert judged.outcome.verdict == "reproduced"
        assert {run.environment for run in judged.runs} == {"FrozenLake-v1"}
        assert len(judged.runs) == 6
        for seed in range(3):
            late = csv_text({100: 0.0, 1000: 0.0, 5000: 0.0})
            spent = clock({100: 0}, 0.1, 1.0)
            write_run(results, run_of("FrozenLake-v1", "powr", seed), late, **spent)
        assert judge(results).outcome.verdict == "not reproduced"

    def test_is_preliminary_at_other_scales_and_of_part_of_the_runs(self, results):
        assert not judge(results).preliminary
        assert judge(results, scale_of_paper="paper").preliminary
        for seed in range(3):  # of an environment that the claim is not about
            (results / run_of("MountainCar-v0", "dqn", seed).path).unlink()
        assert not judge(results, partial=True).preliminary
        four_seeds = study_of({**RAW, "scales": {"tiny": {**RAW["scales"]["tiny"], "seeds": 4}}})
        judged = judge(results, partial=True, study=four_seeds)
        assert (judged.outcome.verdict, judged.preliminary) == ("reproduced", True)

    @pytest.mark.parametrize(
        ("missing", "partial", "reason"),
        [
            ([1], False, "1 of 3 runs of DQN on FrozenLake-v1 are missing"),
            ([1], True, "2 seeds of DQN on FrozenLake-v1, 3 are needed"),
            ([0, 1, 2], True, "3 of 3 runs of DQN on FrozenLake-v1 are missing"),
        ],
    )
    def test_is_not_tested_where_runs_are_missing(self, results, missing, partial, reason):
        remove(results, "dqn", *missing)
        judged = judge(results, partial=partial)
        assert (judged.outcome.verdict, judged.outcome.reason) == ("not tested", reason)
        assert not judged.preliminary

    def test_is_not_tested_where_an_algorithm_is_not_in_the_scale(self, results):
        outcome = judge(results, others=["dqn", "trpo"]).outcome
        assert outcome.reason == "TRPO on FrozenLake-v1 is not part of this scale"


class TestOutput:
    @pytest.fixture
    def run(self, results, monkeypatch):
        monkeypatch.setattr(config, "load", lambda path: STUDY)
        monkeypatch.setattr(ledger, "load", lambda path: CLAIMS)
        monkeypatch.setattr(
            ledger.deviations, "load", lambda path, document: {"deviations": DEPARTURES}
        )
        return lambda: ledger.main(["--scale", "tiny", "--results", str(results)])

    def test_table_has_a_row_a_finding_and_the_page_what_a_reader_needs(self, run, results):
        write_tables(results)
        assert run() == 0
        (row,) = pd.read_csv(results / "tiny" / "claims.csv").to_dict("records")
        assert (row["id"], row["verdict"]) == ("earlier-frozenlake", "reproduced")
        assert (row["estimate"], row["p_value"]) == (pytest.approx(5), 0.05)
        assert len(row["run_files"].split()) == 6
        assert all((results / path).exists() for path in row["run_files"].split())
        page = (results / "tiny" / "claims.md").read_text()
        for text in (
            "1 sentences of the paper are judged.",
            "there are 1 claims",
            "| [POWR is earlier.](#earlier-frozenlake) | Figure 2 | **reproduced** |",
            '"quicker" (Figure 2)',
            "the statistic the decision",
            "| FrozenLake-v1: POWR against DQN | how many times later the other is, medians 1,000",
            "[a-deviation](#deviation-a-deviation)",
            "**a-deviation** (the study): The ice. Why: Reasons. Effect: None.",
            "6 run files",
            run_of("FrozenLake-v1", "powr", 2).path.name,
        ):
            assert text in page


class TestClaimsFile:
    @pytest.fixture
    def document(self):
        return ledger.load(ROOT / "claims.yaml")

    def test_every_claim_is_about_what_the_paper_scale_trains(self, document):
        study = config.load(ROOT / "envs.yaml")
        for claim in document["claims"]:
            parameters = claim["parameters"]
            for environment, _ in parameters.needed():
                assert environment in study.scales["paper"].timesteps
            for environment, threshold in getattr(parameters, "thresholds", {}).items():
                assert threshold in study.environments[environment].thresholds
            horizons = {**getattr(parameters, "arrive", {}), **getattr(parameters, "fail", {})}
            for algorithm, timesteps in horizons.items():
                each = study.scales["paper"].combination(parameters.environment, algorithm)
                assert each.settings["timesteps"] >= timesteps

    def test_everything_that_it_names_exists_and_is_used(self, document):
        names = [name for claim in document["claims"] for name in claim.get("tests", [])]
        assert [name for name in names if not is_test(name)] == []
        assert {claim["rule"] for claim in document["claims"]} == set(document["rules"])
        used = {claim["sentence"] for claim in document["claims"] if "sentence" in claim}
        assert used == set(document["sentences"])

    def test_sentences_are_about_the_paper_s_algorithm_alone(self, document):
        """POWR with the authors' probable settings, and the four baselines: nothing else."""
        for claim in document["claims"]:
            if group_of(claim) == Group.EXPERIMENTS:
                names = {algorithm for _, algorithm in claim["parameters"].needed()}
                assert names <= {"powr", "a2c", "dqn", "ppo", "trpo"}, claim["id"]

    def test_a_claim_is_one_for_each_of_its_policies(self, document):
        own = {claim["id"]: claim for claim in document["claims"]}
        assert own["earlier-taxi"]["parameters"].policy == "deterministic"
        assert own["earlier-taxi-sampled"]["parameters"].policy == "sampled"
        assert own["earlier-taxi-sampled"]["claim"].endswith(", by the sampled policy.")
        quotes = {own[name]["quote"] for name in ("earlier-taxi", "earlier-taxi-sampled")}
        assert quotes == {document["sentences"]["quicker"]["quote"]}

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("id: earlier-taxi", "id: earlier-frozenlake-sampled", "sampled is given twice"),
            ("sentence: quicker", "sentence: slower", "slower"),
            ("level: 0.05", "level: 5", "level"),
            ("      factor: 2", "      factor: 2\n      extra: 1", "extra"),
            ("    place: Figure 2, for arrival that lasts\n", "", "place is missing"),
        ],
    )
    def test_faults_are_named(self, tmp_path, old, new, message):
        text = (ROOT / "claims.yaml").read_text()
        assert old in text
        (tmp_path / "claims.yaml").write_text(text.replace(old, new, 1))
        with pytest.raises(SuiteError, match=message):
            ledger.load(tmp_path / "claims.yaml")


def six_digits(number):
    return float(f"{number:.6g}")


@pytest.mark.parametrize("partial", [True, False])
def test_verdicts_are_read_back_as_they_were_given(results, tmp_path, partial):
    remove(results, "dqn", *([1] if not partial else []))
    judged = judge(results, scale_of_paper="paper", partial=partial)
    path = tmp_path / "claims.csv"
    path.write_text(to_csv(ledger.tabulate([judged])))
    tables = read_results(STUDY, "tiny", results / "tiny")
    (read,) = ledger.read_judged(path, {**CLAIMS, "claims": [judged.claim]}, tables)
    findings = [
        finding._replace(
            runs=(),
            estimate=six_digits(finding.estimate),
            interval=Interval(*map(six_digits, finding.interval)),
            p_value=six_digits(finding.p_value),
            p_holm=six_digits(finding.p_holm),
            smallest_visible=six_digits(finding.smallest_visible),
        )
        for finding in judged.outcome.findings
    ]
    assert read == judged._replace(outcome=judged.outcome._replace(findings=findings))


def test_rules_see_what_the_study_plans(results):
    data, *_ = gathered(results)
    assert data.budgets["MountainCar-v0", "powr"] == 1000
    assert data.optima["FrozenLake-v1"] == 1
    assert data.first_updates["FrozenLake-v1", "dqn"] == 100
    assert data.greedy == ["dqn"]


def both_sets(results):
    claim = {**CLAIMS["claims"][0], "against": ["defaults", "other"]}
    return ledger.judge_all({**CLAIMS, "claims": [claim]}, *gathered(results), False)


def test_a_claim_has_one_verdict_per_set_of_settings(results):
    first, second = both_sets(results)
    assert (first.against, first.outcome.verdict) == ("defaults", "reproduced")
    assert (second.against, second.outcome.verdict) == ("other", "not tested")
    assert second.outcome.reason == "DQN, other on FrozenLake-v1 is not part of this scale"


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ("reproduced", "Holds under all settings tested."),
        ("not reproduced", "Holds fully only under these settings: defaults."),
        ("not tested", "Holds under all settings tested, so far."),
    ],
)
def test_one_sentence_says_on_what_a_claim_depends(results, second, sentence):
    judged = both_sets(results)
    judged[1] = judged[1]._replace(outcome=judged[1].outcome._replace(verdict=second))
    (entries,) = by_claim(judged)
    assert condition(entries, CLAIMS["sets"]) == sentence


def test_what_is_beyond_the_paper_is_never_reproduced(results):
    beyond = {**CLAIMS["claims"][0], "quote": None}
    (judged,) = ledger.judge_all({**CLAIMS, "claims": [beyond]}, *gathered(results), False)
    assert judged.outcome.verdict == "shown"
    assert count_by_kind([judged], CLAIMS["sets"]) == {}


def test_counts_of_a_set_with_missing_runs_are_called_preliminary(results):
    first, second = both_sets(results)
    judged = [first, second._replace(preliminary=True)]
    kinds = count_by_kind(judged, CLAIMS["sets"])
    assert list(kinds) == ["Experiments, defaults", "Experiments, other settings (preliminary)"]
    assert verdict_text(judged).endswith(", not tested (1 of 2)** (preliminary)")
    assert verdict_text([first]) == "**reproduced**"


@pytest.mark.parametrize(
    ("verdicts", "joint", "text"),
    [
        (["partly"], "partly", "partly reproduced"),
        (["reproduced"] * 6, "reproduced", "reproduced (all 6 parts)"),
        (
            ["not reproduced", *["reproduced"] * 5],
            "partly",
            "reproduced (5 of 6), not reproduced (1 of 6)",
        ),
        (
            ["reproduced", "partly"],
            "partly",
            "reproduced (1 of 2), partly reproduced (1 of 2)",
        ),
        (["not reproduced"] * 2, "not reproduced", "not reproduced (both parts)"),
        (
            ["reproduced", "not tested"],
            "reproduced",
            "reproduced (1 of 2), not tested (1 of 2)",
        ),
        (["not tested"] * 2, "not tested", "not tested (both parts)"),
    ],
)
def test_a_sentence_says_in_how_many_parts_it_holds(results, verdicts, joint, text):
    first, _ = both_sets(results)
    parts = [first._replace(outcome=ledger.Outcome(verdict)) for verdict in verdicts]
    assert joint_verdict(parts) == joint
    assert joint_text(parts) == text
    (sentence,) = sentences(parts, CLAIMS)
    assert sentence.parts == {"defaults": parts}
    (counts,) = count_by_kind(parts, CLAIMS["sets"]).values()
    assert counts == {**dict.fromkeys(counts, 0), joint: 1}
