"""claims.yaml and deviations.yaml: what a mistake says, and that they are about the study."""

import re

import pytest
import yaml

from suite import SuiteError
from suite.claims import document
from tests.support.departures import departures, undeclared
from tests.support.run_files import ROOT, set_in


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
        (("theory", 0, "parameters", "gamma"), 2, ("closed-form", "gamma", "2")),
    ],
)
def test_a_mistake_is_one_line_that_names_file_key_and_value(tmp_path, keys, value, words):
    claims = yaml.safe_load((ROOT / "claims.yaml").read_text(encoding="utf-8"))
    set_in(claims, keys, value)
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
