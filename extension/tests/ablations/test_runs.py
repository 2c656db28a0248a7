"""Runs of an ablation through the front door: they are told what is varied."""

import json
from pathlib import Path

import pytest
import yaml

from suite import config
from suite.training import run

STUDY = Path(__file__).parents[2] / "study.yaml"


@pytest.fixture
def envs(tmp_path):
    study = config.read_yaml(STUDY)
    study["evaluation"] = {"episodes": 2, "first": 100, "per_decade": 2}
    study["ablations"] = {
        "pace": {
            "seeds": 1,
            "algorithms": ["optimistic-policy-iteration", "optimistic-value-iteration"],
            "timesteps": {"FrozenLake-v1": 100},
            "settings": {"gamma": [0.9, 0.95]},
        }
    }
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def arguments(envs, out, varied, algorithm="optimistic-value-iteration"):
    return [
        *("--scale", "ablations", "--env", "FrozenLake-v1", "--algorithm", algorithm),
        *("--seed", "0", "--out", str(out), "--envs", str(envs), "--varied", json.dumps(varied)),
    ]


def test_each_combination_is_trained_with_its_settings(envs, tmp_path):
    for each in config.load(envs).combinations("ablations"):
        out = tmp_path / each.run(0).path
        assert run.main(arguments(envs, out, each.varied, each.algorithm)) == 0
        settings = json.loads(out.with_suffix(".json").read_text())["settings"]
        assert settings == {**each.settings, "seed": 0}


def test_what_the_study_does_not_vary_is_refused(envs, tmp_path, capsys):
    assert run.main(arguments(envs, tmp_path / "run.csv", {"gamma": 0.5})) == 1
    assert 'no combination {"gamma": 0.5} of optimistic-value-iteration' in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.csv"))
