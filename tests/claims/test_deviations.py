"""No setting departs from what is stated without an entry that says so."""

import functools
import operator
import re
from pathlib import Path

import pytest

from suite import SuiteError
from suite.claims import deviations
from suite.claims import document as documents
from tests.support.departures import departures, undeclared
from tests.support.run_files import study_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def document():
    return deviations.load(ROOT / "deviations.yaml", documents.load(ROOT / "claims.yaml"))


def test_every_departure_of_the_study_is_declared_and_nothing_else(real_study, document):
    assert undeclared(real_study, document) == []
    declared = {name for entry in document.deviations for name in entry.settings}
    assert declared == set(departures(real_study, document.stated))


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
    assert undeclared(study_of(study), document) == [name]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: budgets", "id: ice-not-slippery", "ice-not-slippery is given twice"),
        ("    effect: Expected to be none on average.\n", "", "effect is missing: add it"),
        ("touches: [taxi-eight]", "touches: [taxi-nine]", "did you mean taxi-eight?"),
    ],
)
def test_faults_are_named(tmp_path, old, new, message):
    text = (ROOT / "deviations.yaml").read_text()
    (tmp_path / "deviations.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(SuiteError, match=re.escape(message)):
        deviations.load(tmp_path / "deviations.yaml", documents.load(ROOT / "claims.yaml"))
