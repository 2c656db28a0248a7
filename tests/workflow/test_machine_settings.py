"""Results do not depend on the machine's settings: cores, order of jobs, hash seed, threads."""

import pytest

from tests.workflow.repository import Repository, copy_unused

pytestmark = pytest.mark.workflow


def test_cores_order_hash_seed_and_threads_change_nothing(first_run, tmp_path):
    origin, _ = first_run
    other = Repository(tmp_path / "other")
    copy_unused(origin.folder, other.folder)
    # The last job of the usual order comes first.
    runs = [path for path in origin.results() if path.endswith(".csv")]
    last = max(path for path in runs if "powr-bold/seed1-" in path)
    settings = {"PYTHONHASHSEED": "12345", "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "2"}
    early = other.snakemake("--", f"results/{last}", environment=settings)
    assert early.returncode == 0, early.stderr
    done = other.snakemake(cores=3, environment=settings)
    assert done.returncode == 0, done.stderr
    assert other.results() == origin.results()
