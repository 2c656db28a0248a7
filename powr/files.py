"""Output files appear whole or not at all: they are written aside and renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
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


def write_together(files: Mapping[Path, str | bytes]) -> None:
    """Write several files and the folders they need.

    All are on the disk before the first appears; they appear in the order given.
    """
    with ExitStack() as stack:
        for path, content in reversed(list(files.items())):  # contexts end in reverse
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(written_aside(path))
            try:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:  # a failed write does not name its file
                raise OSError(error.errno, error.strerror, str(path)) from error


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


def check_suffix(path: str | Path, suffix: str, what: str) -> None:
    """Refuse a name that does not end in the suffix of what is written."""
    if Path(path).suffix != suffix:
        raise ValueError(f"{path} cannot be written: its name must end in {suffix} for {what}")
