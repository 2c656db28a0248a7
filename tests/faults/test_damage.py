"""A full disk, and run files that are not as the run wrote them."""

import os
import shutil
import subprocess

import pytest

from tests.faults.study import wait_for_end, wait_for_training

pytestmark = pytest.mark.faults

AGGREGATE = ("--", "results/tiny/summary.md")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of 16 MB and 2,000 files."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=2000", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill_blocks(folder):
    status = os.statvfs(folder)
    (folder / "filler").write_bytes(b"\0" * (status.f_bavail * status.f_frsize))


def fill_inodes(folder):
    for number in range(os.statvfs(folder).f_ffree):
        (folder / f"{number}").touch()


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("fill", "message"), [(fill_blocks, " free bytes on "), (fill_inodes, " free inodes on ")]
)
def test_a_full_disk_is_told_and_room_is_enough_to_go_on(fresh, small_disk, fill, message, late):
    """One line if it is full from the beginning; later, snakemake may show its own files' fate."""
    study, filler = fresh(small_disk / "study"), small_disk / "filler"
    filler.mkdir()
    if not late:
        fill(filler)
    process = study.start(*AGGREGATE)
    if late:
        wait_for_training(study, process)
        fill(filler)
    errors = wait_for_end(process)
    assert process.returncode != 0
    if late:
        assert "No space left on device" in errors
    else:
        *notices, line = errors.splitlines()
        assert len(notices) <= 2  # the profile, and that there is no log
        assert line.startswith("snakemake: ")
        assert message in line
    study.check_finished()
    shutil.rmtree(filler)
    done = study.snakemake(*AGGREGATE)
    assert done.returncode == 0, done.stderr
    made = study.results()
    assert "tiny/summary.md" in made
    assert made == {name: study.expected[name] for name in made}
    assert study.leftovers() == []
