"""Machines that lack Python, HOME or Git: one line that says what, or a way round it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.repository import working_files

ROOT = Path(__file__).parents[1]
TOOLS = ("make", "sh", "grep", "awk", "nproc", "env", "test")


@pytest.fixture
def make(tmp_path):
    """Runs make on a copy of the Makefile, in a folder whose name the shell would expand."""
    folder = tmp_path / "a $HOME"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))

    def run(*arguments, **environment):
        environment = {"PATH": str(tools), "HOME": str(tmp_path), **environment}
        return subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def test_no_python_is_one_line(make):
    done = make("setup")
    assert done.returncode != 0
    line, end = done.stderr.splitlines()
    assert "No Python found" in line
    assert end.startswith("make: ***")
    assert done.stdout == ""


def test_caches_are_in_the_project_without_a_home(make, tmp_path):
    show = ("--eval", "show: ; @printenv XDG_CACHE_HOME PYTHONSAFEPATH || true", "show")
    (tmp_path / "tools/printenv").symlink_to(shutil.which("printenv"))
    absent = make(*show, HOME="/absent", PYTHONSAFEPATH="1").stdout
    assert absent == f"{tmp_path}/a $HOME/.snakemake/cache\n"
    assert make(*show).stdout == ""
    given = make(*show, HOME="/absent", XDG_CACHE_HOME=os.devnull).stdout
    assert given == f"{os.devnull}\n"


def test_an_archive_without_git_has_the_same_files(tmp_path):
    for name in ("suite/command.py", "results/paper/runs.csv", ".venv/bin/python", "logs/a.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert working_files(tmp_path) == ["suite/command.py"]
