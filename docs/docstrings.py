"""Docstrings say `name : what it is` in one breath; the site wants the words below the name.

The types come from the signature.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ENTRY = re.compile(r"^([a-z_]\w*(?:, \w+)*) : (.+)$", re.MULTILINE)


class WordsBelowNames(Extension):
    """Runs on every object that griffe reads."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = ENTRY.sub(r"\1\n    \2", obj.docstring.value)
