"""Typed checks of claims.yaml and deviations.yaml: one clear error that names place and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from suite import SuiteError


def _each_once(values: list[Any]) -> list[Any]:
    if repeated := [str(value) for value, times in Counter(values).items() if times > 1]:
        raise ValueError(f"{', '.join(repeated)} is given twice")
    return values


Text = Annotated[str, StringConstraints(min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Names = Annotated[list[Text], Field(min_length=1), AfterValidator(_each_once)]
UniqueTexts = Annotated[list[Text], AfterValidator(_each_once)]
Gamma = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Strict(BaseModel):
    """A block of YAML: no key that is not declared, no number for a text."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Model = TypeVar("Model", bound=BaseModel)


def check(model: type[Model], data: Any, path: str | Path, place: str = "") -> Model:
    """The data as the model; a fault names the file, the key and the value."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join([*filter(None, [place]), *map(str, fault["loc"])]) or "the file"
        value = "" if fault["type"] == "missing" else f", but it is {fault['input']!r}"[:200]
        raise SuiteError(f"{path}: {where}: {fault['msg']}{value}") from None


def check_unique(names: Iterable[str], path: str | Path) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise SuiteError(f"{path}: the id {name} is given twice: keep one of the two")
