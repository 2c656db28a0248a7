"""The algorithms that POWR is compared with, one module each, found by the module's name.

`class: dqn` in envs.yaml is the class of baselines/deep/dqn.py, the only one defined there.
"""

import importlib
import importlib.util
from typing import Any

FAMILIES = ("classic", "deep")


def find(name: str) -> type[Any]:
    """The class that the module `name` of one of the families defines."""
    for family in FAMILIES:
        path = f"{__name__}.{family}.{name}"
        if importlib.util.find_spec(path):
            defined = vars(importlib.import_module(path)).values()
            (found,) = (
                entry for entry in defined if isinstance(entry, type) and entry.__module__ == path
            )
            return found
    raise ValueError(f"no module {name} in {' or '.join(f'baselines/{f}' for f in FAMILIES)}")
