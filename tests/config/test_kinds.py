"""The kinds of algorithm, by class and source."""

import pytest

from suite.config.kinds import KINDS, kind_of
from suite.names import algorithm_name


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        ("powr", "POWR"),
        ("powr-authors", "POWR"),
        ("powr-value-iteration", "POWR"),
        ("rmax", "textbook"),
        ("lspi", "textbook"),
        ("dqn", "deep, library defaults"),
        ("dqn-authors", "deep, authors' settings"),
    ],
)
def test_kinds_of_the_study(real_study, algorithm, kind):
    assert kind_of(real_study["algorithms"][algorithm]) == kind


def test_a_network_tuned_elsewhere_is_a_kind_of_its_own(study):
    tuned = {"kind": "chosen on development seeds", "file": "x"}
    assert kind_of({**study["algorithms"]["dqn"], "source": tuned}) == "deep"


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_every_scale_shows_every_kind(real_study, scale):
    scope = real_study["scales"][scale]
    names = [*scope["algorithms"], *scope["only"]] if "only" in scope else scope["algorithms"]
    found = {kind_of(real_study["algorithms"][name]) for name in names}
    assert found == set(KINDS) - {"deep"}


def test_names_are_those_of_the_textbooks():
    names = ["powr", "dqn-authors", "rmax", "dyna-q", "psrl", "cme-value-iteration"]
    printed = ["POWR", "DQN-authors", "R-max", "Dyna-Q", "PSRL", "CME value iteration"]
    assert list(map(algorithm_name, names)) == printed
