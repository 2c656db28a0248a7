"""The workflow for real: what it makes, in which order, and what it refuses or survives."""

import os
import subprocess
import sys

from suite import config
from tests.support.replication import cheapen_theorems
from tests.workflow.repository import ROOT, TRAINING, Repository, copy_working_tree, jobs, trained


def test_smoke_scale_from_nothing_to_both_figures(tmp_path):
    repository = Repository(tmp_path)
    copy_working_tree(tmp_path)
    repository.edit_study(cheapen_theorems, "claims.yaml")
    done = repository.snakemake(scale="smoke", cores=os.cpu_count())
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results" / "smoke"
    runs = config.load(ROOT / "envs.yaml").runs("smoke")
    for suffix in ("csv", "json"):
        assert len(list(results.glob(f"*/*/seed?-*.{suffix}"))) == len(runs)
    agents = {run.path.with_suffix(".npz").name for run in runs if "powr" in run.algorithm}
    assert {path.name for path in results.rglob("*.npz")} == agents
    assert len(list((tmp_path / "logs" / "smoke").glob("*/*/seed?-*.log"))) == len(runs)
    assert not list(tmp_path.rglob("*.tmp"))
    for name in ("curves.csv", "runs.csv", "summary.csv", "summary.md"):
        assert (results / name).stat().st_size > 0
    for name in ("training_curves", "threshold_boxplots_authors", "ranking"):
        for suffix in ("pdf", "svg", "png"):
            assert (results / "figures" / f"{name}.{suffix}").stat().st_size > 1000


def test_seed_0_of_everything_runs_first(first_run):
    _, done = first_run
    seeds = [job.seed for job in jobs(done.stdout + done.stderr) if job.rule in TRAINING]
    assert seeds == [0, 0, 0, 0, 1, 1, 1, 1]


def test_partial_trains_nothing_and_counts(clone):
    (missing,) = clone.folder.glob("results/tiny/Taxi-v3/powr/seed1-*.csv")
    missing.unlink()
    assert {job[1:] for job in trained(clone.planned())} == {("Taxi-v3", "powr", 1)}
    done = clone.snakemake("partial=true")
    assert done.returncode == 0, done.stderr
    assert not missing.exists()
    curves = (clone.folder / "results/tiny/curves.csv").read_text().splitlines()
    seeds = {tuple(line.split(",")[:2]): line.split(",")[-1] for line in curves[1:]}
    assert seeds["Taxi-v3", "powr"] == "1"
    assert seeds["Taxi-v3", "powr-bold"] == "2"


def test_every_rule_of_a_scale_can_be_planned():
    targets = ["all", "gifs", "multiverse_runs", "theory"]
    done = Repository(ROOT).snakemake("--dry-run", "--", *targets, scale="smoke")
    assert done.returncode == 0, done.stderr
    planned = jobs(done.stdout + done.stderr)
    rules = {job.rule for job in planned}
    assert {"train", "aggregate", "figure", "claims", "report", "gif"} <= rules


def test_refuses_wrong_configuration_in_one_line():
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "--config", "scal=smoke"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    *notice, line = done.stderr.splitlines()
    assert line.startswith("snakemake: --config: scal is not known here: did you mean scale?")
    assert [text for text in notice if not text.startswith("Using workflow specific profile")] == []


def test_refuses_a_wrong_study_before_any_job(clone):
    clone.edit_study(lambda study: study["algorithms"]["powr"]["settings"].update(gama=0.9))
    done = clone.snakemake()
    assert done.returncode != 0
    assert "envs.yaml: algorithms.powr.settings: gama is not one of kernel" in done.stderr
    assert jobs(done.stdout + done.stderr) == []


def test_the_linter_of_snakemake_is_silent():
    lint = subprocess.run(
        [sys.executable, "-m", "snakemake", "--lint"], cwd=ROOT, capture_output=True, text=True
    )
    assert lint.returncode == 0, lint.stderr
    assert "your workflow is in a good condition" in lint.stderr
