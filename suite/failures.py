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
