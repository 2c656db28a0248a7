"""Output files appear whole or not at all: they are written aside and renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without error."""
    path = Path(path)
    check_destination(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(aside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_destination(path: str | Path) -> None:
    """Refuse a path that cannot be written, before the work whose outcome it is to hold."""
    path = Path(path)
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder, give a file's name")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path} cannot be written: the folder {folder} is read-only")


def check_suffix(path: str | Path, meanings: Mapping[str, str]) -> None:
    """Refuse a name whose ending is none of those given, each with what is written under it."""
    if Path(path).suffix not in meanings:
        endings = " or ".join(f"in {suffix} for {what}" for suffix, what in meanings.items())
        raise ValueError(f"{path} cannot be written: its name must end {endings}")
