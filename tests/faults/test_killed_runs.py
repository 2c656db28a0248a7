"""A run killed at a known moment: nothing of it is left, and it comes out the same when resumed."""

import time

import pytest

from tests.faults.study import kill

pytestmark = pytest.mark.faults

# Appended to a module of the copy: from a certain call on, a method never ends.
HOLD = """

def _hold(self, *arguments, _go_on={method}):
    if {condition}:
        import pathlib, time

        pathlib.Path("held").touch()
        time.sleep(3600)
    return _go_on(self, *arguments)


{method} = _hold
"""
WITHIN_EPISODE = "self._size > 100 and self._rewards"


def progress(study):
    """What the run under way has said after its evaluations."""
    lines = [line for log in study.training_logs() for line in log.read_text().splitlines()]
    return [line for line in lines if " timesteps, " in line]


def kill_when(moment, study, *arguments):
    """Start the workflow, and kill -9 all of it at a moment; the runs that are finished."""
    for log in study.training_logs():
        log.unlink()
    process = study.start(*arguments)
    try:
        while not moment():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
    finally:
        kill(process)
    kept = study.check_finished()
    names = {path.with_suffix("") for path in kept}
    made = [path for path in (study.folder / "results").rglob("*") if path.is_file()]
    assert {path.with_name(path.name.partition(".")[0]) for path in made} == names
    study.snakemake("--unlock")
    return kept


def test_a_vectorised_baseline_killed_while_it_trains(fresh):
    """Sixteen environments at once, with observations and rewards normalised."""
    study = fresh("study")
    wanted = ("--", *study.targets("a2c-authors"))
    for evaluations in (1, 5):
        assert kill_when(lambda n=evaluations: len(progress(study)) >= n, study, *wanted) == {}
        assert "20,000 of 20,000" not in progress(study)[-1]
    study.finish(*wanted, kept={}, only="a2c-authors")


@pytest.mark.parametrize(
    ("algorithm", "module", "method", "condition", "timesteps"),
    [
        # At 400 timesteps: the dictionary has grown by the second episode, the features have not.
        ("powr", "solvers/nystrom.py", "FeatureTable.grow", "arguments[0] > 300", 316),
    ],
    ids=["Nystrom fit"],
)
def test_an_agent_killed_while_it_learns(fresh, algorithm, module, method, condition, timesteps):
    study = fresh("study")
    wanted = ("--", *study.targets(algorithm))
    source = study.folder / "powr" / module
    text = source.read_text()
    source.write_text(text + HOLD.format(method=method, condition=condition))
    assert kill_when((study.folder / "held").exists, study, *wanted) == {}
    assert f"{timesteps} of 500 timesteps" in progress(study)[-1]  # the last evaluation before
    source.write_text(text)
    study.finish(*wanted, kept={}, only=f"single/MountainCar-v0/{algorithm}/")


def test_the_multiverse_killed_in_its_runs(fresh):
    study = fresh("study")
    kept = {}
    for finished in (0, 1, 3):

        def moment(finished=finished):
            done = {path.stem for path in study.run_files()}
            under_way = {path.stem for path in study.training_logs()} - done
            return len(done) == finished and under_way

        now = kill_when(moment, study, "--", "multiverse_runs")
        assert len(now) == finished
        assert kept.items() <= now.items()
        kept = now
    study.finish("--", "multiverse_runs", kept=kept, only="multiverse/")
