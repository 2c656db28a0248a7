"""Files that appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_together(files: Mapping[Path, str | bytes]) -> None:
    """Write all files aside before the first appears; they appear in the order given.

    The names aside are fixed, so that what a killed process left is overwritten and not piled up.
    """
    aside = {path: path.with_name(f".{path.name}.tmp") for path in files}
    try:
        for path, content in files.items():
            try:
                write_through(aside[path], content)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error
        for path in files:
            aside[path].replace(path)
    finally:
        for path in aside.values():
            path.unlink(missing_ok=True)


def write_through(path: Path, content: str | bytes) -> None:
    """Write a file that is on the disk, and not only on its way there, when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
