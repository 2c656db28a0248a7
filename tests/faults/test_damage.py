"""A full disk, and run files that are not as the run wrote them."""

import os
import subprocess

import pytest

from tests.workflow.repository import jobs, trained

pytestmark = pytest.mark.faults

AGGREGATE = ("--", "results/tiny/summary.md")


def test_a_damaged_run_file_is_named_and_nothing_is_made_of_it(finished):
    path = finished.run_files()[-1]
    name = str(path.relative_to(finished.folder))
    path.write_text(path.read_text()[:-20])
    done = finished.snakemake(*AGGREGATE)
    assert done.returncode != 0
    assert f"{name}: " in done.stderr
    assert "Delete it and the .json beside it, and run again" in done.stderr
    for table in ("curves.csv", "runs.csv", "summary.csv", "summary.md"):
        assert not (finished.folder / "results" / "tiny" / table).exists()
    assert not trained(jobs(done.stderr))
    for suffix in (".csv", ".json"):
        path.with_suffix(suffix).unlink()
    done = finished.snakemake(*AGGREGATE)
    assert done.returncode == 0, done.stderr
    assert len(trained(jobs(done.stderr))) == 1
    assert finished.results() == finished.expected


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 16 MB of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("spare", [0, 60_000])
def test_a_full_disk_is_told_and_room_is_enough_to_go_on(fresh, small_disk, spare):
    study, filler = fresh(small_disk / "study"), small_disk / "filler"
    status = os.statvfs(small_disk)
    filler.write_bytes(b"\0" * (status.f_bavail * status.f_frsize - spare))
    done = study.snakemake(*AGGREGATE)
    assert done.returncode != 0
    assert "No space left on device" in done.stderr
    study.check_finished()
    filler.unlink()
    done = study.snakemake(*AGGREGATE)
    assert done.returncode == 0, done.stderr
    made = study.results()
    assert "tiny/summary.md" in made
    assert made == {name: study.expected[name] for name in made}
    assert study.leftovers() == []
