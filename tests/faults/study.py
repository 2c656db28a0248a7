"""What a folder with the tiny study holds."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.workflow.repository import Repository


class Reference(NamedTuple):
    repository: Repository
    results: dict[str, bytes]
    seconds: float


def run_files(repository: Repository) -> list[Path]:
    return sorted(repository.folder.glob("results/tiny/*/*/seed*.csv"))


def leftovers(repository: Repository) -> list[Path]:
    return [path for path in repository.folder.rglob("*.tmp") if ".git" not in path.parts]
