"""The manifest finds what was changed, lost or added, and sha256sum reads it."""

import subprocess

import pytest

from suite import SuiteError
from suite.release import manifest


@pytest.fixture
def root(tmp_path, monkeypatch):
    names = [
        "results/paper/summary.csv",
        "results/paper/Taxi-v3/powr/seed0-0123456789ab.csv",
        "figures/training_curves.pdf",
        "figures/Taxi-v3.gif",
        "figures/theory.pdf",
        "figures/ablations/choices.pdf",
        "results/paper/Taxi-v3/powr/seed0-0123456789ab.npz",
        "results/paper/.summary.md.tmp",
        "results/quick/summary.csv",
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}\n")
    monkeypatch.chdir(tmp_path)
    assert manifest.main([]) == 0
    return tmp_path


def test_lists_the_paper_scale_and_its_figures(root):
    assert list(manifest.read(root)) == [
        "figures/Taxi-v3.gif",
        "figures/training_curves.pdf",
        "results/paper/Taxi-v3/powr/seed0-0123456789ab.csv",
        "results/paper/Taxi-v3/powr/seed0-0123456789ab.npz",
        "results/paper/summary.csv",
    ]
    assert manifest.faults(root) == {}


def test_sha256sum_reads_it(root):
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", manifest.MANIFEST], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK\n") == 5


def test_faults_are_named(root):
    (root / "figures/Taxi-v3.gif").unlink()
    with (root / "results/paper/summary.csv").open("a") as file:
        file.write("one more line\n")
    assert manifest.faults(root) == {
        "figures/Taxi-v3.gif": "is missing",
        "results/paper/summary.csv": f"is not the file that {manifest.MANIFEST} lists",
    }


def test_refuses_a_line_that_is_no_sum(root):
    (root / manifest.MANIFEST).write_text("0123  figures/Taxi-v3.gif\n")
    with pytest.raises(SuiteError, match="line 1 is not a sum, two spaces and a name"):
        manifest.read(root)
