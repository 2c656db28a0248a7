"""Ablations: which runs they have, and what is refused."""

import re
from pathlib import Path

import pytest

from suite import SuiteError, config
from tests.support.run_files import study_of

STUDY = Path(__file__).parents[1] / "study.yaml"


@pytest.fixture
def small():
    """An ablation of two settings on two environments."""
    study = config.read_yaml(STUDY)
    study["ablations"] = {
        "pace": {
            "seeds": 2,
            "algorithms": ["optimistic-powr"],
            "timesteps": {"FrozenLake-v1": 100, "Taxi-v3": 200},
            "settings": {"gamma": [0.9, 0.99], "mirror_steps": [1, 2, 3]},
            "environments": {"Taxi-v3": {"gamma": [0.5]}},
        }
    }
    return study


def test_an_ablation_runs_every_combination_on_each_environment(small):
    found = [
        (run.environment, *each.varied.values(), run.seed)
        for each in study_of(small).combinations("ablations")
        for run in each.runs
    ]
    assert len(found) == len(set(found)) == 2 * (2 * 3 + 1 * 3)
    assert ("FrozenLake-v1", 0.9, 3, 1) in found
    assert {gamma for environment, gamma, *_ in found if environment == "Taxi-v3"} == {0.5}


def test_null_leaves_a_setting_at_its_default(small):
    small["ablations"]["pace"] |= {"settings": {"gamma": [None, 0.9]}, "environments": {}}
    found = study_of(small).combinations("ablations")
    assert [each.varied for each in found] == [{}, {"gamma": 0.9}] * 2
    for each in found:
        assert each.settings["algorithm"]["settings"] == each.varied


def test_algorithms_of_one_class_have_one_revision():
    for path in (STUDY, STUDY.parents[1] / "envs.yaml"):
        revisions = {}
        for algorithm in config.load(path).algorithms.values():
            revisions.setdefault(algorithm.class_, set()).add(algorithm.revision)
        assert all(len(found) == 1 for found in revisions.values())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["settings", "gamma"], 0.9, "ablations.pace.settings.gamma: 0.9: "),
        (["environments"], {"Taxi-v4": {}}, "ablations.pace.environments: Taxi-v4 is not one of"),
        (["timesteps"], {"Taxi-v2": 10}, "ablations.pace.timesteps: Taxi-v2 is not one of Froz"),
        (["overrides"], {}, "ablations.pace: overrides is not known"),
    ],
)
def test_what_is_refused_is_named(small, write_study, place, value, message):
    *parents, last = place
    target = small["ablations"]["pace"]
    for key in parents:
        target = target[key]
    target[last] = value
    path = write_study(small)
    with pytest.raises(SuiteError, match=f"^{re.escape(str(path))}: .*{message}"):
        config.load(path)
