"""What a folder with the tiny study holds."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

from tests.workflow.repository import Repository, copy_working_tree


class Reference(NamedTuple):
    repository: Repository
    results: dict[str, bytes]


def make_repository(folder: Path, scale: dict[str, Any]) -> Repository:
    """A copy of the working tree whose scale `tiny` is the one given."""
    repository = Repository(folder)
    copy_working_tree(folder)
    repository.add_tiny_scale(scale)
    return repository


def run_files(repository: Repository) -> list[Path]:
    return sorted(repository.folder.glob("results/tiny/*/*/seed*.csv"))


def training_logs(repository: Repository) -> list[Path]:
    return sorted(repository.folder.glob("logs/tiny/*/*/*.log"))


def leftovers(repository: Repository) -> list[Path]:
    return [path for path in repository.folder.rglob("*.tmp") if ".git" not in path.parts]


def processes(repository: Repository) -> list[str]:
    """Command lines of the processes that work in the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve().is_relative_to(repository.folder):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found
