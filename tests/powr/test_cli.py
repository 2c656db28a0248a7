"""The command line, run for real: what it prints, what it writes, and how it ends."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from powr import POWR, cli, options
from powr.kernels import Gaussian
from tests.powr.snapshot import snapshot
from tests.support.command_line import refused_in_one_line

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
LAKE = ["--env", "FrozenLake-v1", "--env-kwargs", "is_slippery=false"]


def powr(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "powr", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=ENVIRONMENT,
        check=False,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    finished = powr("train", *LAKE, "--timesteps", 600, "--save", "agent.npz", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    assert os.listdir(folder) == ["agent.npz"]
    return folder / "agent.npz", finished


# -- the commands ---------------------------------------------------------------------------------


def test_train_saves_the_agent_it_says_it_trains(trained):
    path, finished = trained
    assert finished.stderr == ""
    assert "600 timesteps" in finished.stdout
    assert "\nsaved to agent.npz\n" in finished.stdout
    loaded = POWR.load(path)
    assert loaded.num_timesteps == 600
    assert loaded.env.spec.kwargs["is_slippery"] is False


def test_train_ends_with_a_table_and_commands_that_work(trained, tmp_path):
    path, finished = trained
    agent = POWR.load(path)
    rows = dict(re.findall(r"^  (\S+)  +(.*)$", finished.stdout, re.MULTILINE))
    last = agent.episode_returns[-10:]
    assert rows["return"].startswith(f"{np.mean(last):.2f} ")
    assert rows["timesteps"].startswith("600 ")
    assert rows["plans"].startswith(f"{agent.n_plans_} ")
    for name, (_, why) in agent.settings_.items():
        assert re.sub(r"\s+", " ", why) in re.sub(r"\s+", " ", finished.stdout), name
    # FrozenLake-v1 is registered with 0.7, and an episode pays 0 or 1.
    first = agent.episode_returns.index(1.0)
    when = sum(len(columns[1]) for columns in agent._collector.finished[: first + 1])
    assert re.search(rf"^  met 0.7 +at {when} +the first training episode", finished.stdout, re.M)
    commands = re.findall(r"^  python -m powr (.*)$", finished.stdout, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["evaluate", "explain", "render"]
    (tmp_path / "agent.npz").write_bytes(path.read_bytes())
    for command in commands:
        assert powr(*command.split(), cwd=tmp_path).returncode == 0, command
    assert sorted(os.listdir(tmp_path)) == ["agent.gif", "agent.npz", "agent.png"]


PAID_WALK = """
import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class PaidWalk(gymnasium.Env):
    observation_space, action_space = Box(-9, 9, (2,), np.float64), Discrete(2)

    def __init__(self, pay=3, motto=""):
        self.pay = pay

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=2)
        return self.place, {}

    def step(self, action):
        self.place = np.clip(self.place + action - 0.5, -9, 9)
        return self.place, self.pay, False, False, {}


gymnasium.register("PaidWalk-v0", PaidWalk, max_episode_steps=10)
"""


def test_the_commands_work_for_an_environment_of_ones_own(tmp_path):
    """It is made by its module with the keywords of training; it has no pictures of its own."""
    (tmp_path / "my_module.py").write_text(PAID_WALK)
    env = ["--env", "my_module:PaidWalk-v0", "--env-kwargs", "pay=9", "motto=it's mine"]
    finished = powr("train", *env, "--timesteps", 60, "--save", "my agent.npz", cwd=tmp_path)
    commands = re.findall(r"^  python -m powr (.*)$", finished.stdout, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["evaluate", "explain"]
    assert powr("evaluate", "my agent.npz", cwd=tmp_path).stderr.endswith(": give --env\n")
    evaluated, explained = (powr(*shlex.split(command), cwd=tmp_path) for command in commands)
    assert re.search(r"^deterministic +90.00 ", evaluated.stdout, re.MULTILINE), evaluated.stderr
    assert (tmp_path / "my agent.png").exists(), explained.stderr


def test_no_picture_is_offered_where_none_can_be_drawn(tmp_path, capsys):
    path = tmp_path / "agent.npz"
    assert cli.main(f"train --env Blackjack-v1 --timesteps 30 --save {path}".split()) == 0
    assert "explain" not in capsys.readouterr().out


@pytest.mark.parametrize(("timesteps", "expected"), [(5, "no episode has ended"), (150, "not yet")])
def test_the_table_says_what_has_not_happened(timesteps, expected, tmp_path, capsys):
    path = tmp_path / "agent.npz"
    assert cli.main(f"train --env Acrobot-v1 --timesteps {timesteps} --save {path}".split()) == 0
    assert expected in capsys.readouterr().out


def test_the_bar_shows_return_plans_states_and_choices(capsys):
    agent = POWR("FrozenLake-v1", seed=0).learn(200, progress_bar=True)
    last = capsys.readouterr().err.split("\r")[-1]
    figures = dict(re.findall(r"(return|plans|states|prior|gamma) ([\d.]+)", last))
    assert figures == {
        "return": f"{agent.episode_returns[-1]:g}",
        "plans": str(agent.n_plans_),
        "states": str(agent._planner.n_states),
        "prior": f"{agent.settings_['prior'][0]:.3g}",
        "gamma": "0.999",
    }


def test_evaluate_prints_both_policies(trained, tmp_path):
    finished = powr("evaluate", trained[0], "--episodes", 20, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    title, header, deterministic, sampled = finished.stdout.splitlines()
    assert title.endswith("FrozenLake-v1, trained for 600 timesteps")
    assert header.split() == ["20", "episodes", "mean", "std", "min", "max"]
    assert deterministic.split() == ["deterministic", "1.00", "0.00", "1.00", "1.00"]
    assert re.fullmatch(r"sampled( +\d\.\d\d){4}", sampled)
    assert os.listdir(tmp_path) == []


def test_render_writes_a_gif(trained, tmp_path):
    finished = powr("render", trained[0], "--out", "agent.gif", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "agent.gif: 6 timesteps, return 1\n"
    assert (tmp_path / "agent.gif").read_bytes().startswith(b"GIF89a")
    assert os.listdir(tmp_path) == ["agent.gif"]


def test_options_reach_the_agent(tmp_path, monkeypatch):
    arguments = (
        "train --env MountainCar-v0 --timesteps 210 --save agent.npz --kernel Gaussian "
        "--bandwidth 0.5 0.05 --step-size 0.3 --mirror-steps 2 --epoch-growth 0.1 --seed 7 "
        "--method low_rank --summed "
        "--env-kwargs max_episode_steps=50 goal_velocity=0.01"
    )
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments.split()) == 0
    agent = POWR.load("agent.npz")
    assert agent.env.spec.max_episode_steps == 50
    assert agent.env.unwrapped.goal_velocity == 0.01
    expected = POWR(
        agent.env,
        kernel=Gaussian([0.5, 0.05]),
        step_size=0.3,
        mirror_steps=2,
        epoch_growth=0.1,
        seed=7,
        method="low_rank",
        summed=True,
    )
    assert snapshot(agent) == snapshot(expected.learn(210))


def test_training_twice_writes_the_same_bytes(tmp_path):
    for name in ("one.npz", "two.npz"):
        arguments = ["train", *LAKE, "--timesteps", "150", "--save", str(tmp_path / name)]
        assert cli.main(arguments) == 0
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_evaluating_twice_prints_the_same_and_another_seed_something_else(tmp_path, capsys):
    path = str(tmp_path / "agent.npz")
    POWR("CartPole-v1", mirror_steps=1).learn(100).save(path)
    printed = []
    for seed in ("0", "0", "1"):
        assert cli.main(["evaluate", path, "--episodes", "5", "--seed", seed]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2]


def test_evaluate_agrees_with_episodes_played_by_hand(tmp_path, capsys):
    path = tmp_path / "agent.npz"
    POWR("CartPole-v1", mirror_steps=1).learn(100).save(path)
    agent = POWR.load(path)
    returns = []
    for seed in np.random.default_rng(0).integers(2**31, size=4).tolist():
        observation, _ = agent.env.reset(seed=seed)
        returns.append(0.0)
        done = False
        while not done:
            action, _ = agent.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = agent.env.step(action)
            returns[-1] += reward
            done = terminated or truncated
    cli.main(["evaluate", str(path), "--episodes", "4"])
    row = capsys.readouterr().out.splitlines()[2].split()
    figures = np.mean(returns), np.std(returns), np.min(returns), np.max(returns)
    assert row == ["deterministic", *(f"{figure:.2f}" for figure in figures)]


def test_an_environment_without_time_limit_takes_max_steps(tmp_path, capsys):
    path = str(tmp_path / "agent.npz")
    POWR("CliffWalking-v1").learn(20).save(path)
    assert cli.main(["evaluate", path]) == 2
    assert "no time limit, so an episode may never end: give --max-steps" in capsys.readouterr().err
    assert cli.main(["evaluate", path, "--episodes", "2", "--max-steps", "10"]) == 0


def test_the_help_shows_the_defaults_of_the_agent(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "--help"])
    shown = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert ended.value.code == 0
    for name, (kind, default) in cli.agent_settings().items():
        option = rf"--{name.replace('_', '-')}"
        if kind is bool:
            pattern = rf"{option}, --no-{option[2:]}"
        elif default is None:  # chosen by the agent: the text says how
            pattern = rf"{option} (N|X) [^-]*Default"
        else:
            pattern = rf"{option} (N|X|{{\S+}}) [^(]*.*?\(default: {re.escape(str(default))}\)"
        assert re.search(pattern, shown), name
    assert set(cli.agent_settings()) >= {"step_size", "gamma", "seed", "method"}


# -- bad input ------------------------------------------------------------------------------------

TRAIN = "train --env FrozenLake-v1 --timesteps 50 --save out.npz"

BAD = {
    "": "arguments are required",
    "dance": "invalid choice: 'dance'",
    "train --env FrozenLake-v1 --save out.npz": "arguments are required: --timesteps",
    "train --env FrozenLake-v1 --timesteps 50": "arguments are required: --save",
    f"{TRAIN} --timesteps 0": "--timesteps: must be a whole number of at least 1, got '0'",
    f"{TRAIN} --timesteps 1e3": "--timesteps: must be a whole number of at least 1, got '1e3'",
    f"{TRAIN} --env NoSuchLake-v1": "NoSuchLake",
    f"{TRAIN} --env FrozenLake-v99": "v99",
    f"{TRAIN} --env lake": "lake",
    f"{TRAIN} --env no_such_module:Lake-v1": "no_such_module",
    f"{TRAIN} --env Pendulum-v1": "the action space must be Discrete",
    f"{TRAIN} --env-kwargs depth=3": "unexpected keyword argument 'depth'",
    f"{TRAIN} --env-kwargs is_slippery=False": "JSON: true, false or null",
    f"{TRAIN} --env-kwargs is_slippery": "must be KEY=VALUE, got 'is_slippery'",
    f"{TRAIN} --gamma 1": "gamma must be at least 0 and less than 1, got 1.0",
    f"{TRAIN} --gamma high": "--gamma: invalid float value: 'high'",
    f"{TRAIN} --step-size 0": "step_size must be positive, got 0.0",
    f"{TRAIN} --seed -1": "seed must not be negative, got -1",
    f"{TRAIN} --max-rank 2.5": "--max-rank: invalid int value: '2.5'",
    f"{TRAIN} --kernel Laplace": "invalid choice: 'Laplace'",
    f"{TRAIN} --kernel Gaussian": "--kernel Gaussian needs --bandwidth",
    f"{TRAIN} --bandwidth 0.1": "--bandwidth needs a kernel that has one",
    f"{TRAIN} --kernel Gaussian --bandwidth -1": "bandwidth must be positive and finite",
    f"{TRAIN} --kernel Gaussian --bandwidth 1 2 3": "3 bandwidths, but states have 1 dimensions",
    f"{TRAIN} --epoch-growth 1": "a setting of the paper's alternation: give --summed with",
    f"{TRAIN} --env MountainCar-v0 --kernel Dirac": "another of powr.kernels, or give --summed",
    f"{TRAIN} --save nowhere/out.npz": "there is no folder nowhere",
    f"{TRAIN} --save .": "it is a folder",
    "evaluate": "arguments are required: FILE",
    "evaluate missing.npz": "No such file or directory: 'missing.npz'",
    "evaluate note.txt": "note.txt cannot be loaded: it is not an .npz file",
    "evaluate agent.npz --episodes 0": "--episodes: must be a whole number of at least 1, got '0'",
    "evaluate agent.npz --env CartPole-v1": "trained on FrozenLake-v1, not on CartPole-v1",
    "evaluate agent.npz --env-kwargs map_name=8x8": "--env-kwargs needs --env",
    "evaluate agent.npz --env FrozenLake-v1 --env-kwargs map_name=8x8": "observation space",
    "render agent.npz": "arguments are required: --out",
    "render missing.npz --out a.gif": "No such file or directory: 'missing.npz'",
    "render agent.npz --out nowhere/a.gif": "there is no folder nowhere",
    "render agent.npz --out a.png": "a.png cannot be written: its name must end in .gif for an",
    "render agent.npz --out a.gif --seed x": "--seed: must be a whole number",
    "explain": "arguments are required: FILE",
    "explain missing.npz": "No such file or directory: 'missing.npz'",
    "explain note.txt": "note.txt cannot be loaded: it is not an .npz file",
    "explain agent.npz --out a.jpg": "must end in .png for a picture or in .gif",
    "explain agent.npz --out nowhere/a.png": "there is no folder nowhere",
    "explain agent.npz --show everything": "show must be some of value, policy, visits",
}


@pytest.mark.parametrize(("arguments", "message"), BAD.items(), ids=list(BAD))
def test_bad_input_ends_with_one_line_and_nothing_written(
    arguments, message, trained, tmp_path, monkeypatch, capsys
):
    (tmp_path / "agent.npz").write_bytes(trained[0].read_bytes())
    (tmp_path / "note.txt").write_text("not an agent")
    monkeypatch.chdir(tmp_path)
    refused_in_one_line(capsys, cli.main, arguments, message)
    assert sorted(os.listdir()) == ["agent.npz", "note.txt"]


def test_bad_input_has_no_traceback_in_a_real_process(tmp_path):
    finished = powr(*TRAIN.split(), "--env", "NoSuchLake-v1", cwd=tmp_path)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1),
        ("a=0.5", 0.5),
        ("a=true", True),
        ("a=null", None),
        ("a=8x8", "8x8"),
        ('a="1"', "1"),
        ('a=["SF","FG"]', ["SF", "FG"]),
        ("a=b=c", "b=c"),
        ("a=NaN", "NaN"),
        ("a=", ""),
    ],
)
def test_values_of_keywords_are_json_and_else_text(text, value):
    assert options.keyword(text) == ("a", value)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("FailsToStart", 2, "cannot be made: no licence for this machine"),
        ("RaisesInReset", 1, "RuntimeError: out of order (hostile_environments.py, line"),
        ("RaisesInStep", 1, "KeyError: 'missing' (hostile_environments.py, line"),
        ("NanReward", 1, "reward nan at timestep 1: both must be finite"),
        ("InfiniteObservation", 1, "observation [inf 0. 0.] with reward 1.0 at timestep 1"),
    ],
)
def test_an_environment_that_misbehaves_is_named(name, code, message, tmp_path, capsys):
    env = f"tests.support.hostile_environments:{name}-v0"
    path = tmp_path / "agent.npz"
    assert cli.main(f"train --env {env} --timesteps 50 --save {path}".split()) == code
    errors = capsys.readouterr().err.splitlines()
    assert env in errors[-1]
    assert message in errors[-1]
    assert os.listdir(tmp_path) == []


# -- interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_ends_training_with_one_line_and_no_file(tmp_path):
    endless = "train --env CartPole-v1 --timesteps 10000000 --save agent.npz"
    process = subprocess.Popen(
        [sys.executable, "-m", "powr", *endless.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    try:
        assert process.stdout.readline().startswith("training on CartPole-v1")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors == "python -m powr train: interrupted, nothing was written\n"
    assert os.listdir(tmp_path) == []


def test_an_interrupted_training_keeps_the_agent_saved_before(tmp_path, monkeypatch, capsys):
    path = tmp_path / "agent.npz"
    path.write_bytes(b"the agent of before")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    assert cli.main([*TRAIN.split(), "--save", str(path)]) == 130
    assert path.read_bytes() == b"the agent of before"
    assert os.listdir(tmp_path) == ["agent.npz"]
    assert "interrupted" in capsys.readouterr().err
