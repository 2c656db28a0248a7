"""The command line: what it prints, what it writes, and how it ends."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optimistic_powr import OptimisticPOWR

from powr import POWR
from powr.command import main
from powr.kernels import Gaussian
from tests.powr.environments import assert_same
from tests.support.command_line import call, refused_in_one_line

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
LAKE = ["--env", "FrozenLake-v1", "--env-kwargs", "is_slippery=false"]


def powr(*arguments, cwd):
    command = [sys.executable, "-m", "powr", *map(str, arguments)]
    how = {"capture_output": True, "text": True, "cwd": cwd, "env": ENVIRONMENT}
    return subprocess.run(command, check=False, **how)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    arguments = ["--algorithm", "optimistic", *LAKE, "--timesteps", "6e2", "--save", "agent.npz"]
    finished = powr("train", *arguments, cwd=folder)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert os.listdir(folder) == ["agent.npz"]
    return folder / "agent.npz", finished.stdout


def test_train_ends_with_a_table_and_commands_that_work(trained, tmp_path, monkeypatch, capsys):
    path, printed = trained
    assert printed.startswith("training OptimisticPOWR on FrozenLake-v1 for 600 timesteps\n")
    agent = OptimisticPOWR.load(path)
    rows = dict(re.findall(r"^  (\S+)  +(.*)$", printed, re.MULTILINE))
    assert rows["return"].startswith(f"{np.mean(agent.episode_returns[-10:]):.2f} ")
    assert rows["plans"].startswith(f"{agent.n_plans_} ")
    for _, why in agent.settings_.values():
        assert f"chosen: {why}" in " ".join(printed.split())
    (tmp_path / "agent.npz").write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    said = {}
    for command in re.findall(r"^  python -m powr (.*)$", printed, re.MULTILINE):
        ended = call(capsys, main, command.split())
        assert (ended.code, ended.err) == (0, ""), command
        said[command.split()[0]] = ended.out
    assert sorted(os.listdir(tmp_path)) == ["agent.gif", "agent.npz", "agent.png"]
    assert said["render"] == "agent.gif: 6 timesteps, return 1\n"
    assert said["explain"] == "agent.png: what OptimisticPOWR learned on FrozenLake-v1\n"
    *_, deterministic, sampled = said["evaluate"].splitlines()
    assert deterministic.split() == ["deterministic", "1.00", "0.00", "1.00", "1.00"]
    assert re.fullmatch(r"sampled( +\d\.\d\d){4}", sampled)


OWN = """
import gymnasium
from tests.powr.environments import Corridor
class Own(Corridor):
    def __init__(self, motto=""):
        super().__init__(continuous=True)
gymnasium.register("Own-v0", Own, max_episode_steps=10)
"""


def test_the_commands_work_for_an_environment_of_a_module(tmp_path):
    """It is made by its module with the keywords of training; it cannot be rendered."""
    (tmp_path / "my_module.py").write_text(OWN)
    env = ["--env", "my_module:Own-v0", "--env-kwargs", "motto=it's mine"]
    finished = powr("train", *env, "--timesteps", 60, "--save", "my agent.npz", cwd=tmp_path)
    commands = re.findall(r"^  python -m powr (.*)$", finished.stdout, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["evaluate", "explain"]
    evaluated = powr(*shlex.split(commands[0]), cwd=tmp_path)
    assert "100 episodes" in evaluated.stdout, evaluated.stderr
    assert powr("evaluate", "my agent.npz", cwd=tmp_path).stderr.endswith(": give --env\n")


def test_settings_reach_the_agent_and_overshoots_the_table(tmp_path, capsys):
    arguments = (
        f"train --env CartPole-v1 --timesteps 120 --save {tmp_path / 'agent.npz'} "
        "--kernel Gaussian --bandwidth 3 3 3 2 --step-size 0.3 --mirror-steps 2 --restart "
        "--method nystrom --seed 7 --env-kwargs max_episode_steps=50 sutton_barto_reward=false"
    )
    with pytest.warns(UserWarning, match="beyond what the rewards allow"):
        ended = call(capsys, main, arguments.split())
    agent = POWR.load(tmp_path / "agent.npz")
    assert agent.env.spec.max_episode_steps == 50
    assert agent.n_overshoots_ > 0
    row = rf"  overshoots +{agent.n_overshoots_} .*\s{agent.worst_overshoot_:.0%}\s"
    assert re.search(row, ended.out, re.DOTALL)
    given = {"step_size": 0.3, "mirror_steps": 2, "restart": True, "method": "nystrom", "seed": 7}
    with pytest.warns(UserWarning, match="beyond what the rewards allow"):
        expected = POWR(agent.env, kernel=Gaussian([3, 3, 3, 2]), **given).learn(120)
    assert_same(agent, expected)


def test_an_environment_without_time_limit_takes_max_steps(tmp_path, capsys):
    path = tmp_path / "agent.npz"
    POWR("CliffWalking-v1").learn(20).save(path)
    refused_in_one_line(capsys, main, f"evaluate {path}", "may never end: give --max-steps")
    assert main(["evaluate", str(path), "--episodes", "2", "--max-steps", "10"]) == 0


# -- bad input and failures -----------------------------------------------------------------------

TRAIN = "train --env FrozenLake-v1 --timesteps 50 --save out.npz"
BAD = {
    "": "arguments are required",
    f"{TRAIN} --timesteps 1.5": "--timesteps: must be a whole number of at least 1, got '1.5'",
    f"{TRAIN} --prior 1": "--prior is not a setting of --algorithm powr",
    f"{TRAIN} --env-kwargs depth=3": "unexpected keyword argument 'depth'",
    f"{TRAIN} --env-kwargs is_slippery=False": "JSON: true, false or null",
    f"{TRAIN} --gamma 1": "gamma must be at least 0 and less than 1, got 1.0",
    f"{TRAIN} --bandwidth 0.1": "--bandwidth needs a kernel that has one",
    f"{TRAIN} --save nowhere/out.npz": "there is no folder nowhere",
    "evaluate missing.npz": "No such file or directory: 'missing.npz'",
    "evaluate note.txt": "note.txt cannot be loaded: it is not an .npz file",
    "evaluate agent.npz --env-kwargs map_name=8x8": "--env-kwargs needs --env",
    "render agent.npz --out a.png": "a.png cannot be written: its name must end in .gif for an",
}


@pytest.mark.parametrize(("arguments", "message"), BAD.items(), ids=list(BAD))
def test_bad_input_ends_with_one_line_and_nothing_written(
    arguments, message, trained, tmp_path, monkeypatch, capsys
):
    (tmp_path / "agent.npz").write_bytes(trained[0].read_bytes())
    (tmp_path / "note.txt").write_text("not an agent")
    monkeypatch.chdir(tmp_path)
    refused_in_one_line(capsys, main, arguments, message)
    assert sorted(os.listdir()) == ["agent.npz", "note.txt"]


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("FailsToStart", 2, "cannot be made: no licence for this machine"),
        ("RaisesInStep", 1, "KeyError: 'missing' (hostile_environments.py, line"),
        ("NanReward", 1, "the reward nan at step 0 of an episode: it must be finite"),
    ],
)
def test_an_environment_that_misbehaves_is_named(name, code, message, tmp_path, capsys):
    env = f"tests.support.hostile_environments:{name}-v0"
    arguments = f"train --env {env} --timesteps 50 --save {tmp_path / 'agent.npz'}"
    ended = call(capsys, main, arguments.split())
    assert ended.code == code
    assert env in ended.err.splitlines()[-1]
    assert message in ended.err.splitlines()[-1]
    assert os.listdir(tmp_path) == []


def test_an_interrupt_ends_with_one_line_and_a_closed_pipe_silently(tmp_path):
    (tmp_path / "agent.npz").write_bytes(b"the agent of before")
    endless = "train --env CartPole-v1 --timesteps 1e7 --save agent.npz"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    pipes |= {"cwd": tmp_path, "env": ENVIRONMENT}
    command = [sys.executable, "-m", "powr"]
    with subprocess.Popen([*command, *endless.split()], **pipes) as process:
        assert process.stdout.readline().startswith("training POWR on CartPole-v1")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.endswith("python -m powr train: interrupted, nothing was written\n")
    assert (tmp_path / "agent.npz").read_bytes() == b"the agent of before"
    assert os.listdir(tmp_path) == ["agent.npz"]

    short = "train --env FrozenLake-v1 --timesteps 2000 --save agent.npz"
    with subprocess.Popen([*command, *short.split()], **pipes) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
