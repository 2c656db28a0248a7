"""What a folder with the tiny study holds."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.workflow.repository import Repository

CLOCKS = ("*.json", "*.benchmark.tsv", "cost.csv", "report.html")  # tell what a run took


class Reference(NamedTuple):
    repository: Repository
    results: dict[str, bytes]
    seconds: float


def results(repository: Repository) -> dict[str, bytes]:
    """What may not depend on what happened on the way: every result but the clocks."""
    folder = repository.folder / "results"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(map(path.match, CLOCKS))
    }


def run_files(repository: Repository) -> list[Path]:
    return sorted(repository.folder.glob("results/tiny/*/*/seed*.csv"))


def leftovers(repository: Repository) -> list[Path]:
    return [path for path in repository.folder.rglob("*.tmp") if ".git" not in path.parts]
