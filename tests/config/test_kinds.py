"""The kinds of algorithm, by class and source."""

import pytest

from suite.names import algorithm_name
from tests.support.run_files import study_of


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("powr", "the paper's POWR"),
        ("powr-tuned", "beyond the paper"),
        ("rmax", "textbook"),
        ("lspi", "textbook"),
        ("dqn", "deep, library defaults"),
        ("dqn-authors", "deep, authors' settings"),
    ],
)
def test_kinds_of_the_study(real_study, algorithm, kind):
    assert real_study.algorithms[algorithm].kind == kind


@pytest.mark.parametrize(
    ("algorithm", "kind"), [("dqn", "deep, other settings"), ("powr", "beyond the paper")]
)
def test_settings_that_were_chosen_here_are_a_kind_of_their_own(study, algorithm, kind):
    study["algorithms"][algorithm]["source"] = {"kind": "chosen on development seeds", "file": "x"}
    assert study_of(study).algorithms[algorithm].kind == kind


def test_names_are_those_of_the_textbooks():
    names = ["powr", "powr-tuned", "dqn-zoo", "rmax", "cme-value-iteration"]
    printed = ["POWR", "POWR, tuned", "DQN, zoo", "R-max", "CME value iteration"]
    assert list(map(algorithm_name, names)) == printed
