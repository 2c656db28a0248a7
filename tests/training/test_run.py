"""One run through its front door: bytes, streams, threads, faults."""

import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from powr import POWR
from powr.tabular import TabularMDP
from suite import config
from suite.training import algorithms, run
from suite.training.evaluation import Evaluator, grid

ROOT = Path(__file__).parent.parent.parent
ALGORITHMS = ["powr", "a2c", "dqn", "ppo", "trpo"]
TINY = {
    "seeds": 1,
    "algorithms": ALGORITHMS,
    "timesteps": {"FrozenLake-v1": 300, "Taxi-v3": 300, "MountainCar-v0": 300},
}


@pytest.fixture
def envs(study, write_study):
    """A study with a tiny scale, long enough for updates, and cheap evaluations."""
    study["scales"] = {"tiny": TINY}
    for name in ("ppo", "trpo"):
        study["algorithms"][name]["settings"] = {"n_steps": 128}
    study["evaluation"] = {"episodes": 3, "first": 100, "per_decade": 4}
    return write_study(study)


def arguments(envs, out, algorithm="dqn", environment="Taxi-v3", seed=0):
    return [
        *("--scale", "tiny", "--env", environment, "--algorithm", algorithm),
        *("--seed", str(seed), "--out", str(out), "--envs", str(envs)),
    ]


def start(arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "suite", "run", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("algorithm", ["powr", "dqn"])
def test_rerun_is_byte_identical_whatever_the_callers_settings(envs, tmp_path, algorithm):
    outs = [tmp_path / f"{k}" / "run.csv" for k in (1, 2)]
    # Started together: two runs at once must not meet either.
    processes = [
        start(
            arguments(envs, out, algorithm),
            OMP_NUM_THREADS=str(k),
            OPENBLAS_NUM_THREADS=str(k),
            PYTHONHASHSEED=str(k),
        )
        for k, out in enumerate(outs, start=1)
    ]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        last = errors.splitlines()[-1]
        assert last.startswith(f"{algorithm} on Taxi-v3, seed 0: 300 of 300 timesteps, ")
        assert " a second, last return " in last
    suffixes = [".csv", ".npz"] if algorithm == "powr" else [".csv"]
    for suffix in suffixes:
        first, second = (out.with_suffix(suffix).read_bytes() for out in outs)
        assert first == second
    for out in outs:
        document = json.loads(out.with_suffix(".json").read_text())
        pools = document["provenance"]["thread_pools"]
        assert {pool["num_threads"] for pool in pools} == {1}
        written = {path.name for path in out.parent.iterdir()}
        assert written == {"run.json", *(f"run{suffix}" for suffix in suffixes)}


@pytest.mark.parametrize("environment", ["FrozenLake-v1", "MountainCar-v0"])
@pytest.mark.parametrize("algorithm", ["powr", "a2c"])
def test_run_file(envs, tmp_path, algorithm, environment):
    out = tmp_path / "run.csv"
    assert run.main(arguments(envs, out, algorithm, environment)) == 0
    text = out.read_text()
    assert text.startswith(
        "timestep,mean,std,min,max,episodes,exact_return,sampled_mean,sampled_exact_return\n"
    )
    rows = list(csv.DictReader(text.splitlines()))
    early = [10, 18, 32, 56] if algorithm == "powr" else []
    assert [int(row["timestep"]) for row in rows] == [*early, 100, 178, 300]
    for row in rows:
        assert row["episodes"] == "3"
        assert float(row["min"]) <= float(row["mean"]) <= float(row["max"])
        for column in ("mean", "std", "min", "max"):
            assert row[column] == repr(float(row[column]))
        table = environment == "FrozenLake-v1"
        assert (row["exact_return"] != "") == table
        assert (row["sampled_mean"] != "") == (algorithm == "powr")
        assert (row["sampled_exact_return"] != "") == (algorithm == "powr" and table)


def test_json_beside_the_run_file(envs, tmp_path):
    out = tmp_path / "run.csv"
    assert run.main(arguments(envs, out, seed=4)) == 0
    document = json.loads(out.with_suffix(".json").read_text())
    settings = config.load(envs).combination("tiny", "Taxi-v3", "dqn").settings
    assert document["settings"] == {**settings, "seed": 4}
    assert document["digest"] == config.digest(settings)
    assert document["csv_sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert document["seed_streams"] == run.seed_streams(4)
    evaluations = document["evaluations"]
    assert [entry["timestep"] for entry in evaluations] == [100, 178, 300]
    seconds = [entry["seconds"] for entry in evaluations]
    assert 0 < seconds[0] < seconds[1] < seconds[2] == document["duration_seconds"]
    assert 0 < sum(entry["evaluation_seconds"] for entry in evaluations) < seconds[2]
    assert document["peak_memory_bytes"] > 10**7


def test_trained_agent_beside_the_run_file(envs, tmp_path, monkeypatch):
    out = tmp_path / "run.csv"
    written, replace = [], os.replace
    monkeypatch.setattr(os, "replace", lambda path, to: written.append(to) or replace(path, to))
    assert run.main(arguments(envs, out, "powr", "FrozenLake-v1")) == 0
    # The CSV says that the run is finished, so it comes last.
    names = [path.name for path in written if path.parent == tmp_path]
    assert names == ["run.json", "run.npz", "run.csv"]
    document = json.loads(out.with_suffix(".json").read_text())
    content = out.with_suffix(".npz").read_bytes()
    assert document["agent_sha256"] == hashlib.sha256(content).hexdigest()
    agent = POWR.load(out.with_suffix(".npz"))
    assert agent.num_timesteps == 300
    last = list(csv.DictReader(out.read_text().splitlines()))[-1]
    mdp = TabularMDP.from_env(agent.env)
    assert mdp.expected_return(agent.action_probabilities(range(16))) == pytest.approx(
        float(last["sampled_exact_return"])
    )


def test_seeds_give_independent_streams():
    streams = [run.seed_streams(seed) for seed in range(20)]
    values = [value for stream in streams for value in stream.values()]
    assert len(set(values)) == len(values)
    assert streams[3] == run.seed_streams(3)


def test_each_part_of_a_run_draws_from_its_own_stream(real_study, monkeypatch):
    given = {}

    def stop(*_, **options):
        given.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(algorithms, "build", lambda _, seeds, run_seed: given.update(seeds))
    monkeypatch.setattr(run, "Evaluator", stop)
    with pytest.raises(KeyboardInterrupt):
        run.run(real_study.combination("quick", "Taxi-v3", "powr").settings, 3, "a run")
    spawned = np.random.SeedSequence(3).spawn(4)
    streams = [int(child.generate_state(1)[0]) for child in spawned]
    names = ("training", "agent", "seed", "sampled_seed")
    assert [given[name] for name in names] == streams
    assert given["run_seed"] == 3


@pytest.mark.parametrize("algorithm", ["a2c", "dqn"])
def test_evaluation_leaves_training_untouched(real_study, algorithm):
    settings = real_study.combination("quick", "MountainCar-v0", algorithm).settings
    seeds = run.seed_streams(0)
    evaluator = Evaluator(
        settings["environment"], episodes=2, seed=seeds["evaluation"], sampled_seed=None
    )
    trained = []

    def keep_last(agent):
        trained[-1] = torch.nn.utils.parameters_to_vector(agent.model.policy.parameters()).clone()

    for watch in (keep_last, run.Recorder(evaluator, grid(300, 100, 4), "a run")):
        trained.append(None)

        def callback(model, watch=watch):
            keep_last(model)
            return watch(model)

        algorithms.build(settings, seeds)(300, callback=callback)
    assert torch.equal(*trained)
