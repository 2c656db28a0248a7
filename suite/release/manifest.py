"""MANIFEST.sha256: the sum of every file of the paper scale that lies in the repository.

In the format of sha256sum, so that `sha256sum --check results/paper/MANIFEST.sha256` reads it.

    python -m suite manifest
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from suite.command import make_parser, write_result

MANIFEST = Path("results/paper/MANIFEST.sha256")
FILES = (
    "results/paper/**/*",
    "figures/training_curves.*",
    "figures/training_curves_authors.*",
    "figures/threshold_boxplots.*",
    "figures/threshold_boxplots_authors.*",
    "figures/ladder.*",
    "figures/*.gif",
)


def shipped(root: Path) -> list[str]:
    """The files that belong in the manifest, relative to the root."""
    found = (path for pattern in FILES for path in root.glob(pattern) if path.is_file())
    names = sorted(path.relative_to(root).as_posix() for path in found if path.name[0] != ".")
    return [name for name in names if name != MANIFEST.as_posix()]


def render(root: Path) -> str:
    return "".join(f"{checksum(root / name)}  {name}\n" for name in shipped(root))


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read(root: Path) -> dict[str, str]:
    """The sum of each file listed, by its name."""
    lines = (root / MANIFEST).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def faults(root: Path) -> dict[str, str]:
    """What is wrong with a file that is listed, by its name."""
    found = {}
    for name, digest in read(root).items():
        if not (root / name).is_file():
            found[name] = "is missing"
        elif checksum(root / name) != digest:
            found[name] = f"is not the file that {MANIFEST} lists"
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("manifest", __doc__)
    parser.parse_args(arguments)
    return write_result(parser.prog, lambda: {MANIFEST: render(Path())})
