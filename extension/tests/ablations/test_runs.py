"""Runs of an ablation through the front door: the digest in the file name says which variant."""

import json
from pathlib import Path

import pytest
import yaml

from suite import config
from suite.training import run

ENVS = Path(__file__).parents[2] / "envs.yaml"


@pytest.fixture
def envs(tmp_path):
    study = config.load(ENVS)
    study["evaluation"] = {"episodes": 2, "first": 100, "per_decade": 2}
    study["ablations"] = {
        "pace": {
            "seeds": 1,
            "algorithms": ["optimistic-powr", "optimistic-value-iteration"],
            "timesteps": {"FrozenLake-v1": 100},
            "settings": {"gamma": [0.9, 0.95]},
        }
    }
    path = tmp_path / "envs.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def arguments(envs, out, algorithm="optimistic-powr"):
    return [
        *("--scale", "ablations", "--env", "FrozenLake-v1", "--algorithm", algorithm),
        *("--seed", "0", "--out", str(out), "--envs", str(envs)),
    ]


def test_each_variant_is_trained_with_its_settings(envs, tmp_path):
    for variant, planned in config.variant_runs(config.load(envs), "pace"):
        out = tmp_path / planned.path
        assert run.main(arguments(envs, out, variant.algorithm)) == 0
        settings = json.loads(out.with_suffix(".json").read_text())["settings"]
        assert settings == {**variant.resolved, "seed": 0}


def test_a_name_without_a_known_digest_is_refused(envs, tmp_path, capsys):
    for name in ("seed0-0123456789ab.csv", "run.csv"):
        assert run.main(arguments(envs, tmp_path / name)) == 1
        assert (
            "ablations: no variant of optimistic-powr on FrozenLake-v1" in capsys.readouterr().err
        )
    assert not list(tmp_path.rglob("*.csv"))
