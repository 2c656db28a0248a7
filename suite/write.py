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
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside[path].open("wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
        for path in files:
            aside[path].replace(path)
    finally:
        for path in aside.values():
            path.unlink(missing_ok=True)
