"""How many runs a scale has, wherever that is written: the study says it."""

import re
from pathlib import Path

import yaml

from suite import config

ROOT = Path(__file__).parents[2]
STUDY = config.load(ROOT / "envs.yaml")
RUNS = {scale: len(each.runs()) for scale, each in STUDY.scales.items()}


def test_the_table_of_scales():
    text = (ROOT / "docs" / "benchmark.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    written = {scale: (int(seeds), int(runs)) for scale, seeds, runs in rows}
    assert written == {
        scale: (STUDY.scales[scale].seeds, RUNS[scale]) for scale in ("smoke", "quick", "paper")
    }


def test_the_profile_for_a_cluster_starts_the_paper_scale_at_once():
    assert (
        yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())["jobs"] == RUNS["paper"]
    )
