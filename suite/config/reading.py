"""YAML files: read strictly, and checked against a model with errors that name the place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import yaml

from suite import SuiteError


class StrictLoader(yaml.SafeLoader):
    """YAML that refuses repeated and non-text keys and reads 1e-6 as a number, as YAML 1.2 does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        seen = set()
        for key_node, _ in node.value:
            problem = None
            if key_node.tag != "tag:yaml.org,2002:str":
                problem = f"the key {key_node.value} is not text: put it in quotes"
            elif key_node.value in seen:
                problem = f"the key {key_node.value} is given twice: keep one of the two"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_yaml(path: str | Path) -> Any:
    """The plain values of a YAML file."""
    try:
        # StrictLoader is a SafeLoader: it builds plain values only.
        return yaml.load(Path(path).read_text(encoding="utf-8"), StrictLoader)  # noqa: S506
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SuiteError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise SuiteError(f"{path}{place}: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise SuiteError(f"{path}: is not the YAML expected here: {reason}") from error


Model = TypeVar("Model", bound=pydantic.BaseModel)


def check_model(data: Any, model: type[Model], path: str | Path, *place: str) -> Model:
    """The data as the model; what it does not allow is refused, naming the place in the file."""
    check_plain(data, path)
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        raise SuiteError(f"{path}: {_first_fault(error, place)}") from error


def _first_fault(error: pydantic.ValidationError, place: Iterable[str]) -> str:
    fault = error.errors(include_url=False)[0]
    # "[key]" marks a fault of the key itself, which is named already.
    keys = [*place, *(str(key) for key in fault["loc"] if key != "[key]")]
    if fault["type"] in ("missing", "extra_forbidden"):
        *keys, name = keys
        reason = {
            "missing": f"{name} is missing: add it",
            "extra_forbidden": f"{name} is not known here: correct its spelling or remove it",
        }[fault["type"]]
    else:
        value = repr(fault["input"])
        message = fault["msg"].removeprefix("Value error, ")
        reason = f"{value if len(value) < 100 else value[:100] + ' ...'}: {message}"
    return f"{'.'.join(keys) or 'the file'}: {reason}"


def check_known(names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Refuse a name that is not one of those known there."""
    for name in names:
        if name not in known:
            raise SuiteError(f"{place}: {name} is not one of {', '.join(known)}")


def check_plain(data: Any, path: str | Path) -> None:
    """Refuse dates, infinities and values that contain themselves, all of which YAML has."""
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SuiteError(
            f"{path}: holds a value that is no finite number, text, list or mapping: {error}"
        ) from error
