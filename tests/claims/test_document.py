"""claims.yaml and deviations.yaml: what a mistake says, and that they are about the study."""

import functools
import operator
import re

import pytest
import yaml

from suite import SuiteError
from suite.claims import document
from tests.support.departures import departures, undeclared
from tests.support.pointers import ROOT
from tests.support.run_files import study_of


def test_the_eight_sentences_are_about_environments_and_algorithms_of_the_study(real_study):
    text = document.load(ROOT / "claims.yaml")
    assert len(text.sentences) == 8
    for sentence in text.sentences.values():
        for environment, threshold in sentence.cells.items():
            assert threshold in real_study.environments[environment].thresholds
    for environment, fixed in text.fixed.items():
        assert real_study.environments[fixed].start == "fixed"
        assert real_study.environments[fixed].settings_of == environment
    for settings in text.sets.values():
        assert set(settings.baselines.values()) <= set(real_study.algorithms)


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (("sentences", "quicker", "rule"), "earliest", ("quicker", "earliest")),
        (("sentences", "quicker", "cells"), {}, ("quicker", "cells")),
        # a rule without its cut
        (
            ("sentences", "stable-amount", "parameters"),
            {"largest_factor": 2},
            ("stable-amount", "largest_variation"),
        ),
        (("sentences", "taxi-six-ppo", "parameters", "when"), "later", ("taxi-six-ppo", "when")),
        (
            ("sentences", "quicker", "sensitivities", "lasting"),
            {"time": "lasting"},
            ("quicker", "time"),
        ),
        (("protocols", "fixed", "powr"), "fix", ("protocols.fixed.powr", "fix")),
        (("theory", 0, "rule"), "closed", ("theory.0.rule", "closed")),
        (("theory", 0, "parameters", "gamma"), 2, ("closed-form", "gamma", "2")),
        (("level",), 0, ("level", "0")),
        (("greedy",), None, ("greedy",)),
    ],
)
def test_a_mistake_is_one_line_that_names_file_key_and_value(tmp_path, keys, value, words):
    claims = yaml.safe_load((ROOT / "claims.yaml").read_text(encoding="utf-8"))
    *parents, last = keys
    functools.reduce(operator.getitem, parents, claims)[last] = value
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(claims, sort_keys=False))
    with pytest.raises(SuiteError) as error:
        document.load(path)
    message = str(error.value)
    assert "\n" not in message
    assert all(word in message for word in ("claims.yaml", *words))


@pytest.fixture
def known():
    text = document.load(ROOT / "claims.yaml")
    return document.load_deviations(ROOT / "deviations.yaml", text)


def test_every_deviation_of_the_study_is_declared_and_nothing_else(real_study, known):
    assert undeclared(real_study, known) == []
    declared = {name for entry in known.deviations for name in entry.settings}
    assert declared == set(departures(real_study, known.stated))


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
def test_an_undeclared_change_is_found(name, block, change, study, known):
    functools.reduce(operator.getitem, block, study).update(change)
    assert undeclared(study_of(study), known) == [name]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: budgets", "id: ice-not-slippery", "ice-not-slippery is given twice"),
        ("    effect: Expected to be none on average.\n", "", "effect is missing: add it"),
        ("touches: [taxi-eight]", "touches: [taxi-nine]", "did you mean taxi-eight?"),
    ],
)
def test_faults_of_deviations_are_named(tmp_path, old, new, message):
    text = (ROOT / "deviations.yaml").read_text()
    path = tmp_path / "deviations.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SuiteError, match=re.escape(message)):
        document.load_deviations(path, document.load(ROOT / "claims.yaml"))
