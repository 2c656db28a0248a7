"""Set-up on the machines that there are: without Python, HOME or Git, with Windows' line ends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.repository import IGNORED, Repository, jobs

ROOT = Path(__file__).parents[1]
TOOLS = ("make", "sh", "grep", "awk", "nproc", "env", "test", "printenv")


@pytest.fixture
def make(tmp_path):
    """Runs make on a copy of the Makefile, in a folder whose name the shell would expand."""
    folder, tools = tmp_path / "a $HOME", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))

    def run(*arguments, **environment):
        return subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=folder,
            env={"PATH": str(tools), "HOME": str(tmp_path), **environment},
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
    absent = make(*show, HOME="/absent", PYTHONSAFEPATH="1").stdout
    assert absent == f"{tmp_path}/a $HOME/.snakemake/cache\n"
    assert make(*show).stdout == ""
    given = make(*show, HOME="/absent", XDG_CACHE_HOME=os.devnull).stdout
    assert given == f"{os.devnull}\n"


def test_figures_are_made_although_no_time_asks_for_it(make, tmp_path):
    """In an unpacked archive all times may be equal."""
    ready, archive = tmp_path / "a $HOME/.venv/.ready", Repository(tmp_path / "archive")
    ready.parent.mkdir()
    ready.touch()
    (line,) = [line for line in make("-n", "figures").stdout.splitlines() if "snakemake" in line]
    _, *arguments = line.partition("--config ")[2].split()
    ignored = shutil.ignore_patterns(*IGNORED, "extension", "tests")
    shutil.copytree(ROOT, archive.folder, ignore=ignored, copy_function=shutil.copyfile)
    for scale in ("paper", "fixed-starts", "multiverse"):  # not shipped, there from then on
        (archive.folder / f"results/{scale}/evaluations.csv").touch()
    for path in archive.folder.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    done = archive.snakemake("partial=true", "--dry-run", *arguments, scale="paper")
    assert done.returncode == 0, done.stderr
    made = [job.rule for job in jobs(done.stdout + done.stderr)]
    assert {"aggregate", "figure", "claims", "multiverse_aggregate", "readme"} <= {*made}
    assert made.index("multiverse") < made.index("report")  # which shows its figure


def test_git_leaves_line_ends_as_they_are(tmp_path):
    origin = Repository(tmp_path / "origin")
    origin.folder.mkdir()
    for name in (".gitattributes", "README.md"):
        shutil.copy(ROOT / name, origin.folder / name)
    origin.git("init", "--quiet")
    origin.commit()
    origin.git("clone", "--quiet", "--config", "core.autocrlf=true", ".", tmp_path / "clone")
    assert (tmp_path / "clone/README.md").read_bytes() == (ROOT / "README.md").read_bytes()
