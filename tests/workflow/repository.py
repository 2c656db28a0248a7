"""A folder with the workflow in it, and what snakemake would do there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parent.parent.parent
TRAINING = ("train",)
# They tell what a run took.
CLOCKS = ("*.json", "training.csv", "cost.csv", "ranking.*", "report.html")


class Job(NamedTuple):
    rule: str
    environment: str | None
    algorithm: str | None
    seed: int | None


class Repository:
    """A folder with the workflow in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
        command = ["git", "-C", self.folder, *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self) -> None:
        self.git("add", "--all", "--force", ".", ":!.snakemake", ":!logs", ":!**/__pycache__")
        self.git("commit", "--quiet", "--message", "state")

    def start(
        self,
        *arguments: str,
        scale: str | None = "tiny",
        cores: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start snakemake in a session of its own."""
        settings = [f"scale={scale}"] if scale else []
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
        return subprocess.Popen(
            [*command, "--config", *settings, *arguments],
            cwd=self.folder,
            # The shell of a virtual environment that is not activated.
            env={**os.environ, "PATH": os.defpath, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def snakemake(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, **options) as process:
            output, errors = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def planned(self, *arguments: str) -> list[Job]:
        """The jobs that a call would run now."""
        done = self.snakemake(*arguments, "--dry-run")
        assert done.returncode == 0, done.stderr
        return jobs(done.stdout + done.stderr)

    def results(self) -> dict[str, bytes]:
        """Every result but the clocks: what may not depend on machine, moment or mishap."""
        folder = self.folder / "results"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not any(map(path.match, CLOCKS))
        }

    def edit_study(self, change, name: str = "envs.yaml") -> None:
        path = self.folder / name
        content = yaml.safe_load(path.read_text())
        change(content)
        path.write_text(yaml.safe_dump(content, sort_keys=False))

    def add_tiny_scale(self, scale: Mapping[str, Any], **algorithms: Any) -> None:
        """A scale that trains within seconds, and algorithms that only it has."""

        def change(study: dict[str, Any]) -> None:
            study["scales"]["tiny"] = scale
            study["evaluation"] = {"episodes": 2, "first": 100, "per_decade": 4}
            study["algorithms"].update(algorithms)

        self.edit_study(change)

    def drop_theorems(self) -> None:
        """Leave out the theorems: to judge them takes as long as all the rest."""
        self.edit_study(lambda document: document.update(theory=[]), "claims.yaml")
        self.edit_study(lambda document: document.update(deviations=[]), "deviations.yaml")


def jobs(output: str) -> list[Job]:
    """The jobs that snakemake says it runs: "Job 3: train: powr on Taxi-v3, seed 0"."""
    return [
        Job(rule, *run_of(subject))
        for rule, subject in re.findall(r"^Job \d+: (\w+): (.*)$", output, re.MULTILINE)
    ]


def run_of(subject: str) -> tuple[str | None, str | None, int | None]:
    run = re.fullmatch(r"(\S+) on (\S+), seed (\d+)", subject)
    return (run[2], run[1], int(run[3])) if run else (None, None, None)


def trained(planned: list[Job]) -> set[Job]:
    return {job for job in planned if job.rule in TRAINING}


# What a .gitignore names, for an archive of the repository, which has no Git to ask.
IGNORED = (".git", ".venv", ".snakemake", "logs", "site", "__pycache__", "*.egg-info", ".*_cache")


def working_files(root: Path) -> list[str]:
    """The files that a commit of everything would hold, but for results."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
        names = [name for name in done.stdout.split("\0") if name and (root / name).is_file()]
    else:
        names = []
        for folder, folders, files in os.walk(root):
            folders[:] = [
                name for name in folders if not any(fnmatch(name, each) for each in IGNORED)
            ]
            names += [Path(folder, name).relative_to(root).as_posix() for name in files]
    return [name for name in names if not name.startswith(("results/", "extension/results/"))]


def copy_working_tree(folder: Path) -> None:
    for name in working_files(ROOT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)


def copy_unused(source: Path, target: Path) -> None:
    """The repository as it was before its first run."""

    def made(folder: str, names: list[str]) -> set[str]:
        top = {"results", "logs", ".snakemake", ".git"} if Path(folder) == source else set()
        return {"__pycache__", *top} & set(names)

    shutil.copytree(source, target, ignore=made)
