"""What is shipped of the paper scale is complete, current and as the manifest lists it."""

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from suite import config
from suite.release import manifest, readme

ROOT = Path(__file__).parent.parent
RENEW = "run `make ship` and commit README.md, results/paper and figures"


@pytest.fixture(scope="module")
def committed():
    """The names that the manifest should list; new runs may lie beside them uncommitted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git repository")
    return set(manifest.shipped(ROOT)) & set(listed.stdout.split("\0"))


def test_manifest_lists_exactly_the_committed_files(committed):
    assert set(manifest.read(ROOT)) == committed, RENEW


def test_files_are_those_of_the_manifest():
    assert manifest.faults(ROOT) == {}, RENEW


def test_run_files_are_those_of_the_study(committed):
    current = {
        Path("results", run.path).with_suffix("").as_posix()
        for run in config.runs(config.load(ROOT / "envs.yaml"), "paper")
    }
    there = {name.split(".")[0] for name in committed if re.search(r"/seed\d+-", name)}
    assert there <= current
    for stem in there:
        powr = stem.split("/")[3] == "powr"
        assert {f"{stem}.csv", f"{stem}.json"} <= committed
        assert (f"{stem}.npz" in committed) == powr


def test_readme_shows_the_summary():
    text = (ROOT / readme.README).read_text()
    summary, counts = pd.read_csv(ROOT / readme.SUMMARY), readme.read_counts(ROOT)
    assert readme.renew(text, summary, counts) == text, RENEW


def test_readme_is_short():
    words = re.findall(r"\S*\w\S*", (ROOT / readme.README).read_text())  # no bars of tables
    assert len(words) <= 900


def readme_prose():
    """The README without line breaks."""
    return " ".join((ROOT / readme.README).read_text().split())


def median(environment, algorithm):
    table = pd.read_csv(ROOT / "results/paper/ladder.csv").set_index(["environment", "algorithm"])
    return f"{table.loc[(environment, algorithm), 'median']:,.0f}"


ENVIRONMENTS = ("FrozenLake-v1", "Taxi-v3", "MountainCar-v0")
PROSE = {
    r"thresholds after (\S+), (\S+) and (\S+) timesteps": [
        *((name, "powr-authors") for name in ENVIRONMENTS)
    ],
    r"DQN meets 6 on Taxi-v3 after (\S+) timesteps": [("Taxi-v3", "dqn-authors")],
    r"R-max needs (\S+) timesteps, POWR (\S+); evaluated as POWR is, R-max needs (\S+) ": [
        *(("Taxi-v3", name) for name in ("rmax", "powr", "rmax-cautious"))
    ],
    r"value iteration in a kernel model needs (\S+), POWR (\S+)\. ": [
        *(("MountainCar-v0", name) for name in ("cme-value-iteration", "powr"))
    ],
}


@pytest.mark.parametrize("sentence", PROSE)
def test_readme_tells_the_medians_of_the_ladder(sentence):
    text = readme_prose()
    (written,) = re.findall(sentence, text)
    written = [written] if isinstance(written, str) else list(written)
    assert written == [median(*place) for place in PROSE[sentence]]


def test_readme_tells_the_curves_and_ends_on_taxi():
    text = readme_prose()
    curves = pd.read_csv(ROOT / "results/paper/curves.csv").query("environment == 'Taxi-v3'")
    deepest = curves.query("algorithm == 'powr-authors'")["mean"].min()
    assert f"its curve first sinks to {deepest:.0f}; A2C, PPO and TRPO end at -200" in text
    ends = curves.groupby("algorithm")["mean"].last()
    assert (ends[["a2c", "ppo", "trpo"]] == -200).all()
    claims = pd.read_csv(ROOT / "results/paper/claims.csv")
    dqn = claims.query("id == 'taxi-local-optimum' and subject == 'Taxi-v3: DQN-authors'")
    assert (dqn["estimate"] - 4 / 7).abs().max() < 1e-5
    assert "four of its seven runs end near the optimum" in text


def test_readme_counts_the_runs_that_are_missing():
    table = pd.read_csv(ROOT / "results/paper/ladder.csv")
    authors = table[
        table["algorithm"].isin(["a2c-authors", "dqn-authors", "ppo-authors", "trpo-authors"])
    ]
    planned = authors["seeds_planned"].sum()
    missing = planned - authors["seeds"].sum()
    text = readme_prose()
    assert (f"{missing} of {planned} runs are missing" in text) == (missing > 0)
    assert ("runs are missing" in text) == (missing > 0)
