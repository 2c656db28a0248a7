"""Output files appear whole or not at all: they are written aside and renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_aside(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without error.

    Its name until then is fixed, so that the next writer overwrites what a killed process left.
    """
    path = Path(path)
    check_destination(path)
    aside = path.with_name(f".{path.name}.tmp")
    try:
        with open(aside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_destination(path: str | Path, suffix: str | None = None) -> None:
    """Refuse a path that cannot be written, before the work whose outcome it is to hold."""
    path = Path(path)
    if suffix is not None and path.suffix != suffix:
        raise ValueError(f"{path} cannot be written: its name must end in {suffix}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder, give a file's name")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written: the folder {path.parent} is read-only")
