"""Fixed starts: every reset of a run, in training and in evaluation, is to one state."""

import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from powr import POWR
from suite import config
from suite.results.summary import exact_bounds
from suite.training import environments
from suite.training.evaluation import Evaluator
from suite.training.run import run
from tests.support.run_files import study_of

TAXI = {"id": "Taxi-v3", "kwargs": {}, "start": "fixed"}
CAR = {"id": "MountainCar-v0", "kwargs": {}, "start": "fixed"}
OPTIMA = [6, 9, 11, 9, 8, 11, 11]  # on Taxi-v3, of the starts that seeds 0 to 6 give


def starts(env, times=5):
    """First observations, whatever seeds are asked for."""
    return np.array([env.reset(seed=seed)[0] for seed in [None, *range(times)]])


@pytest.mark.parametrize("settings", [TAXI, CAR])
def test_every_reset_is_to_the_state_of_the_run_seed(settings):
    expected, _ = gymnasium.make(settings["id"]).reset(seed=3)
    found = starts(environments.make(settings, 3))
    np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))
    assert (starts(environments.make(settings, 4)) != found).any()


@pytest.mark.parametrize("settings", [TAXI, CAR])
def test_copies_in_a_vectorised_environment_start_alike(settings):
    vec = DummyVecEnv([lambda: environments.make(settings, 3)] * 4)
    expected, _ = gymnasium.make(settings["id"]).reset(seed=3)
    vec.seed(11)
    for env in (vec, VecNormalize(vec, norm_obs=False)):
        assert (env.reset() == expected).all()
        actions = [vec.action_space.sample() for _ in range(4)]
        for _ in range(200):  # up to the time limit, where they are reset on their own
            observations, _, dones, _ = env.step(actions)
        assert dones.all()
        assert (observations == expected).all()


@pytest.mark.parametrize("seed", range(7))
def test_exact_returns_are_those_from_the_fixed_start(seed):
    evaluator = Evaluator(TAXI, episodes=2, seed=1, sampled_seed=None, run_seed=seed)
    assert evaluator.mdp.optimal_return() == pytest.approx(OPTIMA[seed])

    class Optimal:
        def predict(self, observations, deterministic):
            values = evaluator.mdp.optimal_action_values(0.99)
            return values[observations].argmax(axis=1), None

    result = evaluator.evaluate(Optimal(), 100)
    assert result.min == result.max == result.mean == pytest.approx(result.exact_return)
    assert result.mean == OPTIMA[seed]


def test_the_optimum_of_all_seeds_is_the_mean_of_theirs(real_study):
    bounds = exact_bounds(real_study.environments["Taxi-v3-fixed"], 7)
    assert bounds["optimum"] == pytest.approx(np.mean(OPTIMA))
    bounds = exact_bounds(real_study.environments["Taxi-v3"], 7)
    assert bounds["optimum"] == pytest.approx(7.93, abs=0.005)


def test_powr_trains_from_the_fixed_start():
    agent = POWR(environments.make(TAXI, 2), seed=5).learn(600)
    states = agent.data.columns()[0]
    first = [states[start] for start, _ in agent.data.episodes()]
    assert set(np.ravel(first)) == {gymnasium.make("Taxi-v3").reset(seed=2)[0]}


def test_random_starts_stay_gymnasiums_own_and_need_no_seed():
    env = environments.make({**TAXI, "start": "random"})
    assert len(set(starts(env, 20).tolist())) > 10
    with pytest.raises(ValueError, match="Taxi-v3"):
        environments.make(TAXI)


def test_digest_covers_fixed_starts_and_keeps_those_of_random_ones(study):
    study["scales"]["quick"]["timesteps"]["Taxi-v3-fixed"] = 10_000
    plain = study_of(study).combination("quick", "Taxi-v3", "a2c").settings
    fixed = study_of(study).combination("quick", "Taxi-v3-fixed", "a2c").settings
    assert "start" not in plain["environment"]
    assert fixed["environment"] == {**plain["environment"], "start": "fixed"}
    assert config.digest(plain) != config.digest(fixed)
    study["environments"]["Taxi-v3"]["start"] = "random"
    assert study_of(study).combination("quick", "Taxi-v3", "a2c").settings == plain


@pytest.mark.parametrize("algorithm", ["powr", "a2c-authors"])
def test_a_run_records_the_sampled_policy_from_the_fixed_start(study, algorithm):
    study["scales"]["fixed-starts"]["overrides"][algorithm] = {"Taxi-v3-fixed": 320}
    settings = study_of(study).combination("fixed-starts", "Taxi-v3-fixed", algorithm).settings
    csv, document, _ = run(settings, 1, "a run")
    assert document["settings"]["environment"]["start"] == "fixed"
    header, *rows = (line.split(",") for line in csv.splitlines())
    table = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    assert table["std"] == ["0.0"] * len(rows)  # one start, one greedy episode
    assert all(table["sampled_mean"])
