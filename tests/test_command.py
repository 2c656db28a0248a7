"""Commands that are stopped, or have no room to write: one line, no traceback, no file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suite import command
from suite.__main__ import VERBS, main
from suite.command import write_result

ROOT = Path(__file__).parents[1]
SIGNALS = [signal.SIGINT, signal.SIGTERM]
TINY = ["--scale", "tiny"]
RUN = ["--env", "Taxi-v3", "--algorithm", "powr", "--seed", "0", "--out", "run.csv"]
OPTIONS = {
    "check": TINY,
    "run": [*TINY, *RUN],
    "aggregate": TINY,
    "claims": TINY,
    "report": TINY,
    "theory": [],
    "figure": ["training_curves", *TINY],
}


def signal_self(signum):
    os.kill(os.getpid(), signum)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_files_appear_in_order(tmp_path, monkeypatch):
    order, replace = [], os.replace
    monkeypatch.setattr(os, "replace", lambda path, to: order.append(to) or replace(path, to))
    files = {tmp_path / "a" / "run.json": "{}", tmp_path / "run.csv": b"1"}
    assert write_result("program", lambda: files) == 0
    assert order == list(files)
    assert {path: path.read_text() for path in files} == dict(zip(files, ["{}", "1"], strict=True))


def test_a_full_disk_is_one_line_and_no_file(tmp_path, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "table.csv"
    assert write_result("program", lambda: {out: "1\n"}) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"program: nothing was written: [Errno 28] No space left on device: '{out}'"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_while_writing_comes_too_late(tmp_path, monkeypatch, signum):
    def write_and_be_signalled(files):
        signal_self(signum)
        write_together(files)

    write_together = command.write_together
    monkeypatch.setattr(command, "write_together", write_and_be_signalled)
    assert write_result("program", lambda: {tmp_path / "table.csv": "1\n"}) == 0
    assert (tmp_path / "table.csv").exists()


@pytest.mark.parametrize("verb", OPTIONS)
def test_a_signal_ends_every_command_with_one_line(tmp_path, capsys, monkeypatch, verb):
    def stop_here(*_):
        signal_self(signal.SIGTERM)

    monkeypatch.setattr("suite.config.read_yaml", stop_here)
    monkeypatch.setattr("suite.theory.tables.compute", stop_here)
    monkeypatch.setattr("pandas.read_csv", stop_here)
    assert main([verb, *OPTIONS[verb]]) == 128 + signal.SIGTERM
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": stopped by SIGTERM, nothing was written")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_during_the_imports_shows_no_traceback(tmp_path, signum):
    (tmp_path / "numpy.py").write_text(f"import os\nos.kill(os.getpid(), {int(signum)})\n")
    done = subprocess.run(
        [sys.executable, "-m", "suite", "report"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signum
    assert done.stderr == ""


def test_a_closed_pipe_ends_a_command_without_a_word(tmp_path):
    """As after `| head -1`."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "suite", "--help"],
        stdout=write,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_help_lists_every_verb(capsys):
    assert main(["--help"]) == main([]) == 0
    listed = capsys.readouterr().out
    for verb in VERBS:
        assert listed.count(f"\n  {verb} ") == 2


def test_an_unknown_verb_or_option_is_one_line(capsys):
    assert main(["fly"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("suite: fly is not one of check, run, ")
    with pytest.raises(SystemExit, match="2"):
        main(["claims", "--scael", "tiny"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("python -m suite claims: error: ")
