"""The command line: what it prints, what it writes, and how it ends."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from powr import POWR, __version__
from powr.command import main
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
    arguments = [*LAKE, "--timesteps", "3e3", "--seed", "1000", "--save", "agent.npz"]
    finished = powr("train", *arguments, cwd=folder)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert os.listdir(folder) == ["agent.npz"]
    return folder / "agent.npz", finished.stdout


def test_an_agent_is_trained_evaluated_and_drawn(trained, tmp_path, monkeypatch, capsys):
    path, printed = trained
    agent = POWR.load(path)
    assert f"{np.mean(agent.episode_returns[-10:]):.2f}" in printed
    (tmp_path / "agent.npz").write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    printed = {}
    for command in ("evaluate agent.npz", "explain agent.npz", "render agent.npz --out agent.gif"):
        ended = call(capsys, main, command.split())
        assert (ended.code, ended.err) == (0, ""), command
        printed[command.split()[0]] = ended.out
    assert sorted(os.listdir(tmp_path)) == ["agent.gif", "agent.npz", "agent.png"]
    assert "6 timesteps, return 1" in printed["render"]
    *_, deterministic, sampled = printed["evaluate"].splitlines()
    assert deterministic.split() == ["deterministic", "1.00", "0.00", "1.00", "1.00"]
    assert re.fullmatch(r"sampled( +\d\.\d\d){4}", sampled)
    assert call(capsys, main, ["--version"]).out.split() == ["powr", __version__]


def test_settings_reach_the_agent(tmp_path):
    arguments = (
        f"train --env CartPole-v1 --timesteps 60 --save {tmp_path / 'agent.npz'} --step-size 0.3 "
        "--seed 7 --env-kwargs max_episode_steps=50 sutton_barto_reward=false"
    )
    assert main(arguments.split()) == 0
    agent = POWR.load(tmp_path / "agent.npz")
    assert agent.env.spec.max_episode_steps == 50
    assert_same(agent, POWR(agent.env, step_size=0.3, seed=7).learn(60))


def test_an_environment_without_time_limit_takes_max_steps(tmp_path, capsys):
    path = tmp_path / "agent.npz"
    POWR("CliffWalking-v1").learn(20).save(path)
    refused_in_one_line(capsys, main, f"evaluate {path}", "may never end: give --max-steps")
    assert main(["evaluate", str(path), "--episodes", "2", "--max-steps", "10"]) == 0


# -- bad input and failures -----------------------------------------------------------------------

TRAIN = "train --env FrozenLake-v1 --timesteps 50 --save out.npz"
BAD = {
    "": "COMMAND",
    f"{TRAIN} --timesteps 1.5": "--timesteps",
    f"{TRAIN} --env-kwargs depth=3": "depth",
    f"{TRAIN} --env-kwargs is_slippery=False": "is_slippery=False",
    f"{TRAIN} --step-size 0": "step_size",
    f"{TRAIN} --save nowhere/out.npz": "nowhere",
    "evaluate missing.npz": "missing.npz",
    "evaluate note.txt": "note.txt",
    "evaluate agent.npz --env-kwargs map_name=8x8": "--env",
    "render agent.npz --out a.png": "a.png",
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
    ("name", "message"),
    [("FailsToStart", "no licence for this machine"), ("NanReward", "the reward nan at step 0")],
)
def test_an_environment_that_misbehaves_is_named(name, message, tmp_path, capsys):
    env = f"tests.support.hostile_environments:{name}-v0"
    arguments = f"train --env {env} --timesteps 50 --save {tmp_path / 'agent.npz'}"
    ended = call(capsys, main, arguments.split())
    assert ended.code == 2
    assert f"{name}-v0" in ended.err.splitlines()[-1]
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
    assert process.returncode == -signal.SIGPIPE
