"""Where a result came from: code, packages, machine and threads, without naming the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import threadpoolctl

ROOT = Path(__file__).parents[2]


def collect() -> dict[str, Any]:
    """Call when everything that the run uses is imported: it reports what is loaded."""
    distributions = importlib.metadata.packages_distributions()
    loaded = {name.partition(".")[0] for name in sys.modules}
    packages = {name for module in loaded for name in distributions.get(module, [])}
    keys = ("user_api", "internal_api", "version", "architecture", "num_threads")
    cpu = _read_from_system("/proc/cpuinfo", r"model name\s*:\s*(.+)")
    state = git_state(ROOT)
    return {
        "git": None if isinstance(state, str) else state,
        **({"git_fault": state} if isinstance(state, str) else {}),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu or platform.processor(),
        "packages": {
            name: importlib.metadata.version(name) for name in sorted(packages, key=str.lower)
        },
        # In the order of their texts: threadpoolctl's own changes from process to process.
        "thread_pools": sorted(
            ({key: pool.get(key) for key in keys} for pool in threadpoolctl.threadpool_info()),
            key=str,
        ),
    }


def git_state(folder: Path) -> dict[str, Any] | str | None:
    """Commit, and whether the tracked files are unchanged.

    None outside a repository, text where Git does not tell about it.
    """

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        english = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=english)  # noqa: S603
        return done.stdout

    try:
        if Path(git("rev-parse", "--show-toplevel").strip()) != folder.resolve():
            return None
        return {
            "commit": git("rev-parse", "HEAD").strip(),
            "clean": not git("status", "--porcelain", "--untracked-files=no").strip(),
        }
    except subprocess.CalledProcessError as error:
        return "repository of another user" if "dubious ownership" in error.stderr else None
    except OSError:
        return None


def peak_memory_bytes() -> int:
    """Largest resident memory of this process; `VmHWM` is not inherited, as `ru_maxrss` is."""
    return _memory_bytes("VmHWM")


def resident_memory_bytes() -> int:
    """Resident memory of this process now; its peak where the system does not give it."""
    return _memory_bytes("VmRSS")


def _memory_bytes(field: str) -> int:
    kilobytes = _read_from_system("/proc/self/status", rf"{field}:\s*(\d+) kB")
    if kilobytes:
        return int(kilobytes) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _read_from_system(path: str, line: str) -> str | None:
    """The group of the first such line; None where there is no such file or line."""
    try:
        match = re.search(f"^{line}$", Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return match and match[1]
