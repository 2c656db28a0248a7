"""What is refused before anything runs: settings and environments that an algorithm cannot use."""

import copy

import pytest

from suite import SuiteError, config
from suite.training.algorithms import check_scale
from tests.support.run_files import set_in

RMAX = {
    "class": "rmax",
    "revision": 1,
    "source": {"kind": "library defaults"},
    "settings": {"v_max": 1.0, "known_after": 1, "gamma": 0.99},
}


@pytest.fixture
def lake(study):
    """The study with a scale `lake`, and R-max as an algorithm of it."""
    study["algorithms"]["rmax"] = copy.deepcopy(RMAX)
    study["scales"]["lake"] = {
        "seeds": 1,
        "algorithms": ["powr", "dqn", "rmax"],
        "timesteps": {"FrozenLake-v1": 100},
    }
    return study


def check(write_study, study):
    path = write_study(study)
    check_scale(config.load(path), "lake")


def test_a_new_environment_s_fingerprint_is_shown(lake, write_study, capsys):
    check(write_study, lake)
    assert capsys.readouterr().err == ""
    found = lake["environments"]["FrozenLake-v1"].pop("fingerprint")
    check(write_study, lake)
    (line,) = capsys.readouterr().err.splitlines()
    assert f"envs.yaml: environments.FrozenLake-v1: add `fingerprint: {found}`" in line


POWR, RMAX_BLOCK = ["algorithms", "powr"], ["algorithms", "rmax"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ([*POWR, "settings", "gama"], 0.9, "algorithms.powr.settings: gama is not"),
        ([*POWR, "policy"], "MlpPolicy", "algorithms.powr: policy is not one of"),
        ([*POWR, "settings", "gamma"], 2, "powr on FrozenLake-v1: .*gamma must be"),
        (["algorithms", "powr", "environments"], {"Taxi-v3": {"tau": 1}}, "ments.Taxi-v3: tau"),
        ([*RMAX_BLOCK, "settings"], {"v_max": 1.0, "gamma": 0.9}, "known_after is missing"),
        ([*RMAX_BLOCK, "class"], "planning", "rmax.class: planning is not one of"),
        (["scales", "lake", "timesteps", "MountainCar-v0"], 9, "rmax on MountainCar-v0: .* finite"),
        (["environments", "FrozenLake-v1", "id"], "NoLake-v1", "FrozenLake-v1: .*NoLake"),
    ],
)
def test_refuses(lake, write_study, path, value, message):
    set_in(lake, path, value)
    with pytest.raises(SuiteError, match=message) as caught:
        check(write_study, lake)
    assert len(str(caught.value).splitlines()) == 1
