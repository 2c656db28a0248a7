"""The end of a workflow that failed: which jobs failed, their logs, and the last line of each.

Snakemake reports a failure when it happens, in a long run thousands of lines earlier. Where it
cannot write its own files it shows a traceback, so a full disk is found before it begins. Killed,
it leaves its locks, which are dropped before the next workflow begins.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path
from typing import BinaryIO

from suite import SuiteError

NEEDED_FILES, NEEDED_BYTES = 100, 1_000_000  # logs and records of one workflow, without its results

FAILED = re.compile(
    r"^Error in rule (?P<rule>\w+):\n"
    r"(?:    .*\n)*?    jobid: (?P<job>\d+)\n"
    r"(?:    .*\n)*?    log: (?P<log>[^\s,]+)",
    re.MULTILINE,
)
FINISHED = re.compile(r"^Finished jobid: (\d+)", re.MULTILINE)


def failure_summary(messages: str) -> str:
    """A list of the jobs that failed and did not succeed when tried again, from the messages."""
    finished = set(FINISHED.findall(messages))
    failed = {
        found["log"]: found["rule"]
        for found in FAILED.finditer(messages)
        if found["job"] not in finished
    }
    if not failed:
        return ""
    jobs = "1 job" if len(failed) == 1 else f"{len(failed)} jobs"
    lines = [f"  {rule}: {log}\n    {last_line(Path(log))}" for log, rule in failed.items()]
    header = f"{jobs} failed; the same command tries again what is missing. Log and its last line:"
    return "\n".join([header, *lines])


def last_line(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    silence = "killed before it wrote anything; out of memory?"
    return next(reversed(text.strip().splitlines()), silence)


def check_room(folder: Path) -> None:
    """Refuse to begin on a disk without room for the workflow's own files.

    The folder need not be there yet: that of a study of one's own is made with its first run.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    disk = os.statvfs(there)
    remedy = f"on the disk of {folder.absolute()}: delete some files, or work on another disk"
    if disk.f_files and disk.f_favail < NEEDED_FILES:  # some file systems count no inodes
        raise SuiteError(f"{disk.f_favail} free inodes {remedy}")
    if (free := disk.f_bavail * disk.f_frsize) < NEEDED_BYTES:
        raise SuiteError(f"{free:,} free bytes {remedy}")


def mark_running(folder: Path) -> BinaryIO:
    """Mark Snakemake's folder as in use while the returned file is open; drop stale locks.

    Snakemake's locks are plain files, which outlive a killed workflow. The mark is gone with its
    process, however that ends: without any mark, no lock belongs to a running workflow.
    """
    folder.mkdir(exist_ok=True)
    mark = (folder / "running").open("ab")
    with contextlib.suppress(OSError):  # no file locks on this disk
        with contextlib.suppress(BlockingIOError):  # another workflow is running
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for lock in folder.glob("locks/*.lock"):
                lock.unlink()
        fcntl.flock(mark, fcntl.LOCK_SH)
    return mark
