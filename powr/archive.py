"""An `.npz` of plain arrays, whose headers are checked before anything is allocated or read."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from powr.files import written_aside

# What zipfile and numpy raise for bytes that are not those they wrote.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class Archive:
    """The arrays of a file by name; errors say what is wrong, not which file it is in."""

    def __init__(self, path: str | Path):
        # Opening tells a missing file from one that is no archive.
        with open(path, "rb"):
            self.path = Path(path)

    def names(self) -> set[str]:
        try:
            with zipfile.ZipFile(self.path) as file:
                return {name.removesuffix(".npy") for name in file.namelist()}
        except _DAMAGE as error:
            raise ValueError(f"it is not an .npz file, or a truncated one ({error})") from error

    def read(self, names: Collection[str]) -> dict[str, NDArray]:
        """These arrays; Python objects, which only pickle could read, are refused."""
        missing = sorted(set(names) - self.names())
        if missing:
            raise ValueError(f"it lacks {', '.join(missing)}")
        try:
            with zipfile.ZipFile(self.path) as file:
                for name in names:
                    _check_header(file, name)
            with np.load(self.path, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in names}
        except _DAMAGE as error:
            raise ValueError(f"it is damaged ({error})") from error


def write_archive(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name; numpy's stubs would take them for its keyword, hence Any."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"{name} holds Python objects, which only pickle could store")
    with written_aside(path) as file:
        np.savez_compressed(file, **arrays)


def _check_header(file: zipfile.ZipFile, name: str) -> None:
    """Compare the size that a header promises with the size of what is stored."""
    member = f"{name}.npy"
    with file.open(member) as stream:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError(f"its {name} is not in version 1.0 of the npy format")
        shape, _, dtype = npy.read_array_header_1_0(stream)
        header_size = stream.tell()
    if dtype.hasobject:
        raise ValueError(f"its {name} holds pickled Python objects, which are never loaded")
    if math.prod(shape) * dtype.itemsize != file.getinfo(member).file_size - header_size:
        raise ValueError(f"its {name} promises the shape {shape}, which is not what is stored")
