"""The types of values in claims.yaml and deviations.yaml."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from suite import SuiteError
from suite.config.models import Text, unique

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
UniqueTexts = Annotated[list[Text], AfterValidator(unique)]


def check_unique(names: Iterable[str], path: str | Path) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise SuiteError(f"{path}: the id {name} is given twice: keep one of the two")
