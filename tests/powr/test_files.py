"""Several files are written together, or none of them."""

import errno
import os

import pytest

from powr.files import write_together


def test_files_appear_in_the_order_given_once_all_are_on_the_disk(tmp_path, monkeypatch):
    first, second = tmp_path / "new" / "first.csv", tmp_path / "second.json"
    second.with_name(".second.json.tmp").write_text("left by a killed process")
    replace, seen = os.replace, []

    def watch(source, target):
        seen.append((target.name, sorted(path.read_text() for path in tmp_path.rglob("*.tmp"))))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watch)
    write_together({first: "one", second: b"two"})
    assert seen == [("first.csv", ["one", "two"]), ("second.json", ["two"])]
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert list(tmp_path.rglob("*.tmp")) == []


def test_a_full_disk_is_named_with_the_file_and_leaves_the_old_ones(tmp_path, monkeypatch):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("before")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*new\.csv'"):
        write_together({old: "after", new: "after"})
    assert os.listdir(tmp_path) == ["old.csv"]
    assert old.read_text() == "before"
