"""claims.yaml: what a mistake in it says, and that it is about the study."""

import copy

import pytest
import yaml

from suite import SuiteError
from suite.claims import document
from tests.support.pointers import ROOT

TEXT = yaml.safe_load((ROOT / "claims.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def claims():
    return copy.deepcopy(TEXT)


def load(claims, tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(claims, sort_keys=False))
    return document.load(path)


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


def change(*keys, value):
    def changed(claims):
        *parents, last = keys
        for key in parents:
            claims = claims[key]
        if value is None:
            del claims[last]
        else:
            claims[last] = value

    return changed


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (change("sentences", "quicker", "rule", value="earliest"), ("quicker", "earliest")),
        (change("sentences", "quicker", "cells", value={}), ("quicker", "cells")),
        # a rule without its cut
        (
            change("sentences", "stable-amount", "parameters", value={"largest_factor": 2}),
            ("stable-amount", "largest_variation"),
        ),
        (
            change("sentences", "taxi-six-ppo", "parameters", "when", value="later"),
            ("taxi-six-ppo", "when"),
        ),
        (
            change("sentences", "quicker", "sensitivities", "lasting", value={"time": "lasting"}),
            ("quicker", "time"),
        ),
        (change("protocols", "fixed", "powr", value="fix"), ("protocols.fixed.powr", "fix")),
        (change("theory", 0, "rule", value="closed"), ("theory.0.rule", "closed")),
        (change("theory", 0, "parameters", "gamma", value=2), ("closed-form", "gamma", "2")),
        (change("level", value=0), ("level", "0")),
        (change("greedy", value=None), ("greedy",)),
    ],
)
def test_a_mistake_is_one_line_that_names_file_key_and_value(claims, tmp_path, changed, words):
    changed(claims)
    with pytest.raises(SuiteError) as error:
        load(claims, tmp_path)
    message = str(error.value)
    assert "\n" not in message
    assert all(word in message for word in ("claims.yaml", *words))
