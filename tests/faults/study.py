"""A copy of the repository with a tiny study, to be disturbed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from suite import config
from tests.workflow.repository import Repository

SECONDS_TO_END = 900  # only hanging takes so long, even on a crowded machine

Identity = tuple[int, int]


class Study(Repository):
    """Knows the results of the same study when nobody disturbed it."""

    def __init__(self, folder: Path, expected: dict[str, bytes]) -> None:
        super().__init__(folder)
        self.expected = expected

    def targets(self, algorithm: str) -> list[str]:
        """The run files of the scale `single`."""
        runs = config.load(self.folder / "envs.yaml").runs("single")
        return [f"results/{run.path}" for run in runs if run.algorithm == algorithm]

    def run_files(self) -> list[Path]:
        return sorted(self.folder.glob("results/*/*/*/seed*.csv"))

    def training_logs(self) -> list[Path]:
        return sorted(self.folder.glob("logs/*/*/*/*.log"))

    def leftovers(self) -> list[Path]:
        """Temporary files, and the lock of a workflow."""
        found = [*self.folder.rglob("*.tmp"), *self.folder.glob(".snakemake/locks/*")]
        return [path for path in found if ".git" not in path.parts]

    def processes(self) -> list[str]:
        """Command lines of the processes that work in the folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").resolve().is_relative_to(self.folder):
                    found.append((process / "cmdline").read_text().replace("\0", " "))
        return found

    def check_finished(self) -> dict[Path, Identity]:
        """No process is left and every run file is whole and right; which they are."""
        assert self.processes() == []
        for path in self.run_files():
            name = str(path.relative_to(self.folder / "results"))
            assert path.read_bytes() == self.expected[name]
            assert path.with_suffix(".json").exists()
        return {path: identity(path) for path in self.run_files()}

    def finish(self, *arguments: str, kept: dict[Path, Identity], only: str = "tiny/") -> None:
        """The same command again ends as if never disturbed, and does not make kept files again."""
        done = self.snakemake(*arguments, cores=2)
        assert done.returncode == 0, done.stderr
        wanted = {name: text for name, text in self.expected.items() if only in name}
        assert wanted
        assert self.results() == wanted
        assert self.leftovers() == []
        assert {path: identity(path) for path in kept} == kept


def identity(path: Path) -> Identity:
    """Changes if the file is written again, even with the same content."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def kill(process: subprocess.Popen[str]) -> None:
    """Kill -9 of the workflow, unless it has ended, with everything that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for_end(process: subprocess.Popen[str]) -> str:
    """What the workflow said on its way to the end; one that hangs is killed and is an error."""
    try:
        return process.communicate(timeout=SECONDS_TO_END)[1]
    except subprocess.TimeoutExpired:
        kill(process)
        raise
