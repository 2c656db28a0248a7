"""The peers' settings in envs.yaml are those that their tables of development seeds choose."""

import json
from pathlib import Path

import pytest

from benchmarks.tune_peers import FOLDER, SETTINGS, choose, name_of, read
from suite import config

ROOT = Path(__file__).parents[3]
STUDY = config.load(ROOT / "envs.yaml")
# Where a peer is planned to run; some of its tables are still to be finished elsewhere.
PLACES = [
    (peer, environment)
    for peer in SETTINGS
    for environment in SETTINGS[peer]
    if environment in STUDY.algorithms[name_of(peer)].environments
]


@pytest.mark.parametrize(("peer", "environment"), PLACES)
def test_the_study_has_the_chosen_setting(real_study, peer, environment):
    file = FOLDER / f"{peer}.csv"
    chosen, _ = choose(read(ROOT / file), environment)
    name = name_of(peer)
    source = {"kind": "chosen on development seeds", "file": file.as_posix()}
    assert real_study.algorithms[name].source.model_dump() == source
    each = real_study.combination("paper", environment, name)
    assert each.settings["algorithm"]["settings"] == json.loads(chosen)


def test_only_development_seeds_were_tried():
    for file in (ROOT / FOLDER).glob("*.csv"):
        assert min(outcome.seed for outcome in read(file)) >= 1000
