"""origins.csv: the distinct environments, of commit, Python, machine and packages, of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

ORIGIN = ("runs", "commit", "Python", "platform", "processor", "packages")


def find_origins(provenances: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per environment, by the names in `ORIGIN`.

    Runs of one environment load different packages of it: each has all versions that were loaded.
    """
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for provenance in provenances:
        commit = provenance.get("git_fault") or "outside a repository"
        if git := provenance["git"]:
            commit = git["commit"][:12] + ("" if git["clean"] else " with local changes")
        key = (commit, provenance["python"], provenance["platform"], provenance["cpu"])
        found.setdefault(key, []).append(provenance["packages"])
    rows = []
    for names, loaded in sorted(found.items()):
        packages = [
            f"{name} {' and '.join(sorted({each[name] for each in loaded if name in each}))}"
            for name in sorted({name for each in loaded for name in each}, key=str.lower)
        ]
        rows.append((len(loaded), *names, ", ".join(packages)))
    return pd.DataFrame(rows, columns=list(ORIGIN))
