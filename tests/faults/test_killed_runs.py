"""A run killed at a known moment: nothing of it is left, and it comes out the same when resumed."""

import os
import signal
import time

import pytest

from suite import config
from tests.faults.study import Reference, leftovers, make_repository, processes, training_logs
from tests.workflow.repository import Repository, copy_unused

pytestmark = pytest.mark.faults

SINGLE = {
    "seeds": 1,
    "algorithms": ["optimistic-powr", "a2c-authors"],
    "timesteps": {"MountainCar-v0": 300},
    "overrides": {"a2c-authors": {"MountainCar-v0": 20000}},
}

# At the end of the copy's powr/optimistic/planners.py: a plan within an episode never ends.
HOLD = """

def _hold(*_):
    import pathlib, time

    pathlib.Path("planning").touch()
    time.sleep(3600)


_plan = BoxPlanner.plan


def _held_plan(self):
    if self._size > 100 and self._rewards:  # those of the episode under way
        DisplacementModel._solve = _hold
    _plan(self)


BoxPlanner.plan = _held_plan
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Both runs of the study, from a workflow that nobody disturbs."""
    repository = make_repository(tmp_path_factory.mktemp("undisturbed"), SINGLE)
    done = repository.snakemake("--", *targets(repository), cores=2)
    assert done.returncode == 0, done.stderr
    return Reference(repository, repository.results())


@pytest.fixture
def repository(undisturbed, tmp_path):
    copy_unused(undisturbed.repository.folder, tmp_path / "study")
    return Repository(tmp_path / "study")


def targets(repository, algorithm=None):
    """The run files of one algorithm, or of both."""
    runs = config.runs(config.load(repository.folder / "envs.yaml"), "tiny")
    return [f"results/{run.path}" for run in runs if algorithm in (None, run.algorithm)]


def progress(repository):
    """What the run under way has said after its evaluations."""
    return [
        line
        for log in training_logs(repository)
        for line in log.read_text().splitlines()
        if " timesteps, " in line
    ]


def kill_when(moment, repository, *arguments):
    """Start the workflow, and kill -9 all of it at a moment; nothing may be left of the run."""
    for log in training_logs(repository):
        log.unlink()
    process = repository.start(*arguments)
    try:
        while not moment():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert processes(repository) == []
    assert [path for path in (repository.folder / "results").rglob("*") if path.is_file()] == []
    repository.snakemake("--unlock")


def check_resumed(repository, undisturbed, algorithm):
    """The same command finishes the run, with the bytes of one that was never killed."""
    done = repository.snakemake("--", *targets(repository, algorithm))
    assert done.returncode == 0, done.stderr
    expected = {name: text for name, text in undisturbed.results.items() if algorithm in name}
    assert expected
    assert repository.results() == expected
    assert leftovers(repository) == []


def test_a_vectorised_baseline_killed_while_it_trains(repository, undisturbed):
    """Sixteen environments at once, with observations and rewards normalised."""
    wanted = ("--", *targets(repository, "a2c-authors"))
    for evaluations in (1, 5):
        kill_when(lambda n=evaluations: len(progress(repository)) >= n, repository, *wanted)
        last = progress(repository)[-1]
        assert " of 20,000 timesteps" in last
        assert "20,000 of 20,000" not in last
    check_resumed(repository, undisturbed, "a2c-authors")


def test_an_agent_killed_in_a_plan_within_an_episode(repository, undisturbed):
    planners = repository.folder / "powr" / "optimistic" / "planners.py"
    source = planners.read_text()
    planners.write_text(source + HOLD)
    planning = repository.folder / "planning"
    kill_when(planning.exists, repository, "--", *targets(repository, "optimistic-powr"))
    assert "100 of 300 timesteps" in progress(repository)[-1]  # the next evaluation is at 178
    planners.write_text(source)
    check_resumed(repository, undisturbed, "optimistic-powr")
