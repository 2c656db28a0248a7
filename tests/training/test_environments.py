"""Fingerprints tell environments of one name apart, and agree on those that behave alike."""

import pytest

from suite import SuiteError
from suite.training import environments

FROZEN = {"id": "FrozenLake-v1", "kwargs": {"is_slippery": False}}
CAR = {"id": "MountainCar-v0", "kwargs": {}}
CART = {"id": "CartPole-v1", "kwargs": {}}


def fingerprint(settings):
    return environments.fingerprint(environments.make(settings))


def with_kwargs(settings, **kwargs):
    return {"id": settings["id"], "kwargs": {**settings["kwargs"], **kwargs}}


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v3", "MountainCar-v0"])
def test_installed_environments_are_those_of_the_study(real_study, name):
    block = real_study.environments[name].resolve()
    assert environments.check_fingerprint(block) == block["fingerprint"]


@pytest.mark.parametrize("settings", [FROZEN, CAR])
def test_does_not_depend_on_what_was_done_with_the_environment(settings):
    env = environments.make(settings)
    env.reset(seed=5)
    env.step(env.action_space.sample())
    assert environments.fingerprint(env) == fingerprint(settings)


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        (FROZEN, {"is_slippery": True}),
        (FROZEN, {"max_episode_steps": 90}),
        (CART, {"sutton_barto_reward": True}),
        (CAR, {"max_episode_steps": 100}),
    ],
)
def test_tells_variants_apart(settings, change):
    assert fingerprint(settings) != fingerprint(with_kwargs(settings, **change))


def test_mismatch_names_both_fingerprints_and_the_remedy():
    found = environments.check_fingerprint(FROZEN)
    with pytest.raises(SuiteError, match=f"0000.*write `fingerprint: {found}` into envs.yaml"):
        environments.check_fingerprint({**FROZEN, "fingerprint": "0" * 64})
