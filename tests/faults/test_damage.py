"""A full disk, and run files that are not as the run wrote them."""

import os
import subprocess

import pytest

from tests.workflow.repository import jobs, trained

pytestmark = pytest.mark.faults

AGGREGATE = ("--", "results/tiny/summary.md")


def cut_short(text):
    return text[: len(text) // 2]


def edit_by_hand(text):
    first, *rest = text.splitlines(keepends=True)
    return first + rest[0].replace(",0.0,", ",1.0,", 1) + "".join(rest[1:])


def add_a_foreign_column(text):
    return "".join(line + ",extra\n" for line in text.splitlines())


@pytest.mark.parametrize("damage", [cut_short, edit_by_hand, add_a_foreign_column])
def test_a_damaged_run_file_is_named_and_nothing_is_made_of_it(finished, damage):
    path = finished.run_files()[-1]
    name = str(path.relative_to(finished.folder))
    before = path.read_text()
    path.write_text(damage(before))
    assert path.read_text() != before
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


def fill(folder, spare):
    """Leave only so many bytes free; returns the file to delete for more."""
    filler = folder / "filler"
    status = os.statvfs(folder)
    filler.write_bytes(b"\0" * (status.f_bavail * status.f_frsize - spare))
    return filler


@pytest.mark.parametrize("spare", [0, 60_000])
def test_a_full_disk_is_told_and_room_is_enough_to_go_on(fresh, small_disk, spare):
    study = fresh(small_disk / "study")
    filler = fill(small_disk, spare)
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
