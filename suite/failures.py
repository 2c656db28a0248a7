"""The end of a workflow that failed: which jobs failed, their logs, and the last line of each.

Snakemake reports a failure when it happens, in a long run thousands of lines earlier.
"""

from __future__ import annotations

import re
from pathlib import Path

FAILED = re.compile(
    r"^Error in rule (?P<rule>\w+):\n"
    r"(?:    .*\n)*?    jobid: (?P<job>\d+)\n"
    r"(?:    .*\n)*?    log: (?P<log>[^\s,]+)",
    re.MULTILINE,
)
FINISHED = re.compile(r"^Finished jobid: (\d+)", re.MULTILINE)


def failed_jobs(messages: str) -> dict[str, str]:
    """The log of each job that failed and did not succeed when tried again, and its rule."""
    finished = set(FINISHED.findall(messages))
    return {
        failure["log"]: failure["rule"]
        for failure in FAILED.finditer(messages)
        if failure["job"] not in finished
    }


def last_words(messages: str) -> str:
    """A list of the failed jobs, from what snakemake said during the workflow."""
    failed = failed_jobs(messages)
    if not failed:
        return ""
    jobs = "1 job" if len(failed) == 1 else f"{len(failed)} jobs"
    lines = [f"  {rule}: {log}\n    {last_line(Path(log))}" for log, rule in failed.items()]
    header = f"{jobs} failed; the same command tries again what is missing. Log and its last line:"
    return "\n".join([header, *lines])


def last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return next((line for line in reversed(lines) if line.strip()), "empty")
