"""No setting departs from what is stated without an entry that says so."""

import functools
import operator
import re
from pathlib import Path

import pytest

from suite import SuiteError, config
from suite.claims import deviations, ledger
from tests.support.departures import departures, undeclared

ROOT = Path(__file__).parents[2]


@pytest.fixture
def study():
    return config.load(ROOT / "envs.yaml")


@pytest.fixture
def document():
    return deviations.load(ROOT / "deviations.yaml", ledger.load(ROOT / "claims.yaml"))


def test_every_departure_of_the_study_is_declared_and_nothing_else(study, document):
    assert undeclared(study, document) == []
    declared = {name for entry in document["deviations"] for name in entry["settings"]}
    assert declared == set(departures(study, document["stated"]))


@pytest.mark.parametrize(
    ("name", "block", "change"),
    [
        ("a2c.learning_rate", ("algorithms", "a2c", "settings"), {"learning_rate": 0.1}),
        ("dqn.gamma", ("algorithms", "dqn"), {"environments": {"Taxi-v3": {"gamma": 0.9}}}),
        ("Taxi-v3.kwargs", ("environments", "Taxi-v3", "kwargs"), {"is_rainy": True}),
        ("MountainCar-v0.thresholds", ("environments", "MountainCar-v0"), {"thresholds": [-120]}),
        ("powr.kernel", ("algorithms", "powr"), {"environments": {}}),
        ("paper.timesteps", ("scales", "paper", "timesteps"), {"Taxi-v3": 10}),
    ],
)
def test_an_undeclared_change_is_found(name, block, change, study, document):
    functools.reduce(operator.getitem, block, study).update(change)
    assert undeclared(study, document) == [name]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: budgets", "id: ice-not-slippery", "ice-not-slippery is given twice"),
        ("    effect: Expected to be none on average.\n", "", "effect is missing: add it"),
    ],
)
def test_faults_are_named(tmp_path, old, new, message):
    text = (ROOT / "deviations.yaml").read_text()
    (tmp_path / "deviations.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(SuiteError, match=re.escape(message)):
        deviations.load(tmp_path / "deviations.yaml", ledger.load(ROOT / "claims.yaml"))


def test_a_star_touches_all_claims_of_that_name(document):
    ids = [claim["id"] for claim in ledger.load(ROOT / "claims.yaml")["claims"]]
    touched = {entry["id"]: entry["touches"] for entry in document["deviations"]}
    extension = [name for name in ids if name.startswith("extension-")]
    assert touched["extension-optimism"] == extension
    assert len(extension) > 1


def test_the_extension_s_departures_touch_no_sentence_of_the_paper(document):
    quoted = {
        claim["id"] for claim in ledger.load(ROOT / "claims.yaml")["claims"] if "quote" in claim
    }
    of = {entry["id"]: entry["of"] for entry in document["deviations"]}
    assert set(of.values()) == {"the study", "POWR", "OptimisticPOWR"}
    for entry in document["deviations"]:
        assert entry["of"] != "OptimisticPOWR" or not quoted & set(entry["touches"])
