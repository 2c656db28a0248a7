"""The ablations of envs.yaml: which runs they have, what those share, and what is refused."""

import re

import pytest

from suite import SuiteError, config

# Of runs that were made before there were ablations.
PAPER_DIGESTS = {
    ("FrozenLake-v1", "a2c"): "c3d33d0f4ded",
    ("FrozenLake-v1", "dqn"): "5feb10717e2f",
    ("FrozenLake-v1", "ppo"): "ccb24eb11c90",
    ("FrozenLake-v1", "trpo"): "5f8b3aea2376",
    ("Taxi-v3", "a2c"): "1402c38321f8",
}


@pytest.fixture
def small(study):
    """An ablation of two settings on two environments."""
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


def digests(study, name="pace"):
    return {run.digest for _, run in config.variant_runs(study, name)}


def test_ablations_leave_the_digests_of_the_scales_alone(real_study):
    found = {
        (run.environment, run.algorithm): run.digest for run in config.runs(real_study, "paper")
    }
    assert PAPER_DIGESTS.items() <= found.items()


def test_an_ablation_runs_every_combination_on_each_environment(small):
    found = [
        (variant.environment, *variant.varied.values(), run.seed)
        for variant, run in config.variant_runs(small, "pace")
    ]
    assert len(found) == len(set(found)) == 2 * (2 * 3 + 1 * 3)
    assert ("FrozenLake-v1", 0.9, 3, 1) in found
    assert {gamma for environment, gamma, *_ in found if environment == "Taxi-v3"} == {0.5}


def test_null_leaves_a_setting_at_its_default(small):
    small["ablations"]["pace"] |= {"settings": {"gamma": [None, 0.9]}, "environments": {}}
    found = config.variants(small, "pace")
    assert [variant.varied for variant in found] == [{}, {"gamma": 0.9}] * 2
    for variant in found:
        assert variant.resolved["algorithm"]["settings"] == variant.varied


def test_a_variant_is_found_by_its_digest(small):
    for variant, run in config.variant_runs(small, "pace"):
        found = config.resolve_variant(small, run.scale, run.environment, run.algorithm, run.digest)
        assert found == variant.resolved


def test_an_unknown_digest_is_refused_with_a_remedy(small):
    with pytest.raises(SuiteError, match=r"optimistic-powr on Taxi-v3 .* 'abc'.*start it again"):
        config.resolve_variant(small, "ablations", "Taxi-v3", "optimistic-powr", "abc")


def test_algorithms_of_one_class_have_one_revision(real_study):
    revisions = {}
    for algorithm in real_study["algorithms"].values():
        revisions.setdefault(algorithm["class"], set()).add(algorithm["revision"])
    assert all(len(found) == 1 for found in revisions.values())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["settings", "gamma"], 0.9, "ablations.pace.settings.gamma: 0.9: give a list"),
        (["environments"], {"Taxi-v4": {}}, "ablations.pace.environments: Taxi-v4 is not one of"),
        (["timesteps"], {"Taxi-v2": 10}, "ablations.pace.timesteps: Taxi-v2 is not one of Froz"),
        (["algorithms"], ["dqn"], "ablations.pace.algorithms: dqn is not one of .*optimistic-powr"),
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
