"""python -m suite compare: one command, a table and a picture, and what stops it."""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from suite import SuiteError, config
from suite.compare import command as compare_command
from suite.compare.study import is_compared, make_study
from tests.support.command_line import refused_in_one_line

ROOT = Path(__file__).parents[1]
LAKE = ["--env", "FrozenLake-v1", "--env-kwargs", "is_slippery=false"]


def command(*arguments):
    return [sys.executable, "-m", "suite", "compare", *map(str, arguments)]


def run(*arguments, cwd=ROOT):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def options(**given):
    defaults = {
        "env": "CartPole-v1",
        "env_kwargs": [],
        "timesteps": 500,
        "seeds": 2,
        "algorithms": None,
        "threshold": None,
    }
    return argparse.Namespace(**{**defaults, **given})


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    arguments = [*LAKE, "--timesteps", 300, "--seeds", 2, "--algorithms", "powr", "rmax"]
    return arguments, folder, run(*arguments, "--cores", 2, "--out", folder)


def test_the_table_agrees_with_the_runs(compared):
    _, folder, finished = compared
    assert finished.returncode == 0, finished.stderr
    table = {
        line.split("  ")[0]: line
        for line in finished.stdout.splitlines()
        if line.startswith("POWR ")
    }
    arrivals = pd.read_csv(folder / "compare" / "runs.csv")
    own = arrivals[(arrivals["algorithm"] == "powr") & (arrivals["policy"] == "deterministic")]
    met = own["first_arrival"]
    assert len(own) == 2
    assert f"{met.notna().sum()} of 2" in table["POWR"]
    assert f" {met.median():,.0f} " in table["POWR"]
    assert list(folder.glob("compare/*/powr/seed0-*.csv"))
    assert (folder / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "comparison.pdf").read_bytes().startswith(b"%PDF")
    study = config.load(folder / "study.yaml")
    assert study["scales"]["compare"]["algorithms"] == ["powr", "rmax"]


def test_the_same_command_trains_nothing_again(compared):
    arguments, folder, first = compared
    files = sorted(folder.rglob("seed*.csv"))
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in files]
    again = run(*arguments, "--out", folder)
    assert "4 of 4 runs are there already" in again.stdout
    assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in files] == before
    assert again.stdout.split("algorithm ")[1] == first.stdout.split("algorithm ")[1]


def test_ctrl_c_ends_the_runs_under_way_and_says_what_is_kept(tmp_path):
    arguments = ["--env", "CartPole-v1", "--timesteps", 60_000, "--seeds", 1, "--cores", 1]
    process = subprocess.Popen(
        command(*arguments, "--algorithms", "a2c", "--out", tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout.readline().startswith("CartPole-v1, 60,000 timesteps, 1 runs")
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while not list(tmp_path.rglob("*.log")) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors == (
        "python -m suite compare: stopped by SIGINT: 0 of 1 runs are finished and kept in "
        f"{tmp_path}; the same command trains the others\n"
    )
    assert not list(tmp_path.rglob("seed*.csv"))


def test_an_interrupt_shows_the_runs_there_are(compared, capsys):
    _, folder, _ = compared
    study = config.load(folder / "study.yaml")
    study["scales"]["compare"]["seeds"] = 3
    assert compare_command.conclude(study, folder, stopped_by=signal.SIGINT) == 130
    captured = capsys.readouterr()
    assert "2 of 2" in captured.out
    assert "4 of 6 runs are finished and kept" in captured.err


# -- which algorithms -----------------------------------------------------------------------------


def test_peers_that_fit_are_chosen_and_others_are_left_out_with_a_reason(study):
    before = repr(study)
    asked = options(env="FrozenLake-v1", env_kwargs=[("map_name", "8x8")])
    made, choice = make_study(study, asked)
    assert repr(study) == before
    assert {"powr", "a2c", "dqn", "ppo", "trpo", "rmax"} <= set(choice.chosen)
    assert "cme-value-iteration" in choice.left_out
    assert "authors" not in " ".join(choice.chosen)
    assert choice.borrowed["rmax"] == "FrozenLake-v1"
    assert list(made["environments"]) == ["FrozenLake-v1-map_name-8x8"]


def test_an_environment_of_the_study_keeps_its_settings_and_threshold(study):
    lake = dict(study["environments"]["FrozenLake-v1"])
    asked = options(env="FrozenLake-v1", env_kwargs=list(lake["kwargs"].items()))
    made, choice = make_study(study, asked)
    assert made["environments"] == {"FrozenLake-v1": lake}
    assert "rmax" not in choice.borrowed


def test_the_registered_threshold_holds_unless_another_is_given(study):
    only = options(env="Acrobot-v1", env_kwargs=[("max_episode_steps", 99)], algorithms=["powr"])
    made, _ = make_study(study, only)
    assert [block["thresholds"] for block in made["environments"].values()] == [[-100.0]]
    only.threshold = -80.0
    made, _ = make_study(study, only)
    assert [block["thresholds"] for block in made["environments"].values()] == [[-80.0]]


def test_an_algorithm_that_was_asked_for_must_fit(study):
    with pytest.raises(SuiteError, match="--algorithms rmax: "):
        make_study(study, options(algorithms=["rmax"]))


# -- bad input ------------------------------------------------------------------------------------

BAD = {
    "--env CartPole-v1 --timesteps 1e3": "must be a whole number of at least 1, got '1e3'",
    "--env NoSuchPole-v1 --timesteps 10": "NoSuchPole-v1 with {} cannot be made",
    "--env CliffWalking-v1 --timesteps 10": "or by --env-kwargs max_episode_steps=200",
    "--env CartPole-v1 --timesteps 10 --algorithms nobody": "nobody: is not one of powr",
    "--env CartPole-v1 --timesteps 10 --out note.txt": "note.txt: is a file",
    "--env CliffWalking-v1 --env-kwargs max_episode_steps=9 --timesteps 9": "give --threshold",
}


@pytest.mark.parametrize(("arguments", "message"), BAD.items(), ids=list(BAD))
def test_bad_input_is_one_line_and_nothing_is_written(
    arguments, message, tmp_path, monkeypatch, capsys
):
    (tmp_path / "note.txt").write_text("not a folder")
    (tmp_path / "envs.yaml").write_text((ROOT / "envs.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    refused_in_one_line(capsys, compare_command.main, arguments, message)
    assert sorted(os.listdir()) == ["envs.yaml", "note.txt"]


def test_a_failed_run_is_named_with_its_log(study, tmp_path, capsys):
    made, _ = make_study(study, options(algorithms=["dqn"], seeds=1))
    failed = config.runs(made, "compare")
    assert compare_command.conclude(made, tmp_path, failed) == 1
    error = capsys.readouterr().err
    assert "1 of 1 runs failed" in error
    assert str((tmp_path / failed[0].path).with_suffix(".log")) in error


def test_both_powrs_are_compared_unasked_and_no_ablation(study):
    study["algorithms"]["powr-tuned"] = {
        **study["algorithms"]["powr"],
        "source": {"kind": "chosen on development seeds", "file": "results/tuning/powr.csv"},
    }
    compared_unasked = {name for name, entry in study["algorithms"].items() if is_compared(entry)}
    assert {"powr", "optimistic-powr", "dqn", "rmax"} <= compared_unasked
    assert not {"powr-tuned", "optimistic-value-iteration", "dqn-authors"} & compared_unasked


def test_what_lacks_no_setting_borrows_none_and_what_cannot_learn_is_named(study, capsys):
    made, choice = make_study(study, options(env="CartPole-v1", algorithms=["powr", "ppo"]))
    resolved = config.resolve(made, "compare", "CartPole-v1", "powr")
    assert resolved["algorithm"]["settings"] == study["algorithms"]["powr"]["settings"]
    assert choice.borrowed == {}
    compare_command.announce(choice)
    assert "a first update, which comes after (PPO: 2,048)" in capsys.readouterr().out
