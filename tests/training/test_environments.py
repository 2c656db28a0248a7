"""Fingerprints tell environments of one name apart, and agree on those that behave alike."""

import json
from concurrent.futures import ProcessPoolExecutor

import gymnasium
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
def test_installed_environments_are_those_of_the_study(real_study, tmp_path, name):
    environments.check_fingerprint(real_study["environments"][name], tmp_path / "record")
    assert list(tmp_path.iterdir()) == []


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


def test_sees_another_reward_where_there_is_no_table():
    class Generous(gymnasium.RewardWrapper):
        def reward(self, reward):
            return reward + 1

    env = environments.make(CAR)
    assert environments.fingerprint(Generous(env)) != fingerprint(CAR)


def test_mismatch_names_both_fingerprints_and_the_remedy(tmp_path):
    record = tmp_path / "fingerprint.json"
    with pytest.raises(SuiteError, match=f"0000.*`fingerprint: {fingerprint(FROZEN)}` into envs"):
        environments.check_fingerprint({**FROZEN, "fingerprint": "0" * 64}, record)
    record.write_text(json.dumps({**FROZEN, "fingerprint": "0" * 64}))
    with pytest.raises(SuiteError, match=f"0000.*delete {record} and the runs beside it"):
        environments.check_fingerprint(FROZEN, record)


def test_a_new_environment_is_recorded_and_said_once(tmp_path, capsys):
    record = tmp_path / "scale" / "lake" / "fingerprint.json"
    for _ in range(2):
        environments.check_fingerprint(FROZEN, record)
    (line,) = capsys.readouterr().err.splitlines()
    assert str(record) in line
    assert json.loads(record.read_text()) == {**FROZEN, "fingerprint": fingerprint(FROZEN)}
    assert list(record.parent.iterdir()) == [record]


def test_jobs_that_start_together_agree_on_the_record(tmp_path):
    record = tmp_path / "lake" / "fingerprint.json"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(environments.check_fingerprint, [FROZEN] * 12, [record] * 12))
    assert json.loads(record.read_text())["fingerprint"] == fingerprint(FROZEN)
    assert list(record.parent.iterdir()) == [record]


def test_other_settings_get_a_new_record(tmp_path):
    record = tmp_path / "fingerprint.json"
    slippery = with_kwargs(FROZEN, is_slippery=True)
    for settings in (FROZEN, slippery):
        environments.check_fingerprint(settings, record)
    assert json.loads(record.read_text()) == {**slippery, "fingerprint": fingerprint(slippery)}


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_damaged_record_is_refused(tmp_path, text):
    record = tmp_path / "fingerprint.json"
    record.write_text(text)
    with pytest.raises(SuiteError, match="is not the record of a fingerprint: delete it"):
        environments.check_fingerprint(FROZEN, record)
