"""The manifest finds what was changed or lost, and sha256sum reads it."""

import subprocess

from suite.release import manifest

LISTED = [
    "figures/Taxi-v3.gif",
    "figures/training_curves.pdf",
    "results/paper/Taxi-v3/powr/seed0-0123456789ab.npz",
    "results/paper/summary.csv",
]
OTHERS = ["figures/theory.pdf", "results/paper/.summary.md.tmp", "results/quick/summary.csv"]


def test_lists_the_paper_scale_and_finds_what_was_changed(tmp_path, monkeypatch):
    for name in (*LISTED, *OTHERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}\n")
    monkeypatch.chdir(tmp_path)
    assert manifest.main([]) == 0
    assert list(manifest.read(tmp_path)) == LISTED
    assert manifest.faults(tmp_path) == {}
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", manifest.MANIFEST], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.count(": OK\n")) == (0, len(LISTED))
    (tmp_path / "figures/Taxi-v3.gif").unlink()
    (tmp_path / "results/paper/summary.csv").write_text("another content\n")
    assert manifest.faults(tmp_path) == {
        "figures/Taxi-v3.gif": "is missing",
        "results/paper/summary.csv": f"is not the file that {manifest.MANIFEST} lists",
    }
