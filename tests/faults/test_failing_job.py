"""A job that fails: the others finish, it is tried once more, and the last message names it."""

import pytest

from tests.workflow.repository import jobs, trained

pytestmark = pytest.mark.faults

BROKEN = """\
import gymnasium


class Broken(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        if seed:  # the fingerprint's seed is 0
            raise RuntimeError("out of order")
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}


gymnasium.register("Broken-v0", entry_point=Broken, max_episode_steps=5)
"""


def add_broken(content):
    broken = {"id": "broken:Broken-v0", "kwargs": {}, "thresholds": [0]}
    content["environments"]["Broken-v0"] = broken
    places = {"FrozenLake-v1": 150, "Broken-v0": 150}
    content["scales"]["tiny"] = {"seeds": 2, "algorithms": ["powr"], "timesteps": places}


def test_a_failing_job_is_tried_twice_and_stops_no_other(fresh):
    study = fresh("failing")
    (study.folder / "broken.py").write_text(BROKEN)
    study.edit_study(add_broken)
    done = study.snakemake(cores=2)
    assert done.returncode != 0
    tries = [job.seed for job in jobs(done.stderr) if job.environment == "Broken-v0"]
    assert sorted(tries) == [0, 0, 1, 1]
    assert [path.parts[-3] for path in study.run_files()] == ["FrozenLake-v1"] * 2
    assert study.leftovers() == []

    _, final = done.stderr.split("2 jobs failed; the same command tries again what is missing.")
    failed = [log for log in study.training_logs() if "Broken-v0" in log.parts]
    assert len(failed) == 2
    for log in failed:
        assert f"train: {log.relative_to(study.folder)}\n" in final
    assert final.count("Broken-v0 failed in reset: RuntimeError: out of order (broken.py, ") == 2
    assert final.endswith("At least one job did not complete successfully.\n")

    planned = trained(study.planned())
    assert {(job.environment, job.seed) for job in planned} == {("Broken-v0", 0), ("Broken-v0", 1)}
