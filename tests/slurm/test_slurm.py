"""profiles/slurm on a real Slurm: the jobs run there, and the results are those of a local run."""

import os
import tempfile
from pathlib import Path

import pytest

from suite import config
from tests.slurm.cluster import missing_programs, one_node_cluster
from tests.workflow.repository import ROOT, Repository, copy_working_tree

pytestmark = pytest.mark.slurm

# A node without accounting, and answers sooner than a busy controller would like.
LOOPBACK = [
    *("--profile", "profiles/slurm", "--jobs", "4"),
    *("--slurm-no-account", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2"),
    "--slurm-keep-successful-logs",
]


@pytest.fixture(scope="module")
def slurm():
    """The environment of a running cluster."""
    if missing := missing_programs():
        pytest.fail(
            f"Slurm is not installed, {', '.join(missing)} not found: on Debian and Ubuntu, "
            "apt-get install --no-install-recommends slurm-wlm munge",
            pytrace=False,
        )
    # Not pytest's folder: the names of sockets are short.
    with (
        tempfile.TemporaryDirectory(prefix="slurm") as folder,
        one_node_cluster(Path(folder), cpus=4) as environment,
    ):
        yield environment


def test_smoke_scale_is_the_same_on_slurm_as_here(slurm, tmp_path):
    here, there = Repository(tmp_path / "here"), Repository(tmp_path / "there")
    for repository in (here, there):
        repository.folder.mkdir()
        copy_working_tree(repository.folder)
    done = here.snakemake(scale="smoke", cores=os.cpu_count())
    assert done.returncode == 0, done.stderr
    done = there.snakemake(*LOOPBACK, scale="smoke", environment=slurm)
    assert done.returncode == 0, done.stderr
    planned = {str(run.path) for run in config.load(ROOT / "envs.yaml").runs("smoke")}
    assert planned <= here.results().keys()
    assert len(list((there.folder / ".snakemake" / "slurm_logs").rglob("*.log"))) == len(planned)
    assert there.results() == here.results()
