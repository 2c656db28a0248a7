"""Several files are written together, or none of them."""

import errno
import os

import pytest

from powr.files import write_together


def test_a_full_disk_is_named_with_the_file_and_leaves_the_old_ones(tmp_path, monkeypatch):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    write_together({old: "before"})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*new\.csv'"):
        write_together({old: "after", new: "after"})
    assert os.listdir(tmp_path) == ["old.csv"]
    assert old.read_text() == "before"
    monkeypatch.undo()
    write_together({old: "after", new: b"after"})
    assert (old.read_text(), new.read_text()) == ("after", "after")
    assert sorted(os.listdir(tmp_path)) == ["new.csv", "old.csv"]
