"""YAML files: read strictly, and checked against a model with errors that name the place.

An error says in plain words what is wrong where, and for a misspelt name which one is near.
"""

from __future__ import annotations

import difflib
import json
import re
import textwrap
from collections import Counter
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
        problem = error.problem or error.context or "is not YAML"
        words = next((SYNTAX[known] for known in SYNTAX if known in problem), problem)
        raise SuiteError(f"{path}{place}: {words}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise SuiteError(f"{path}: is not the YAML expected here: {reason}") from error


# In the place of the parser's own words, where those would not help.
SYNTAX = {
    "expected <block end>": "wrong indentation: align this line with its block, and do not mix "
    "items of a list (-) with keys",
    "mapping values are not allowed": "a key where none may stand: correct the indentation of this "
    "line or the one above, or put text that has a colon in quotes",
    r"character '\t'": "a tab: indent with spaces",
    "<stream end>": "the file ends within a value: close its bracket or quote",
    "end of stream": "the file ends within a value: close its bracket or quote",
}


Model = TypeVar("Model", bound=pydantic.BaseModel)


def check_model(data: Any, model: type[Model], path: str | Path, *place: str) -> Model:
    """The data as the model; what it does not allow is refused, naming the place in the file."""
    check_plain(data, path)
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        raise SuiteError(f"{path}: {_first_fault(error, data, model, place)}") from error
    except SuiteError as error:  # of a name that is not known
        raise SuiteError(f"{path}: {error}") from error


def _first_fault(
    error: pydantic.ValidationError, data: Any, model: type[Model], place: Iterable[str]
) -> str:
    """The key, the value, and what would be right in pydantic's words."""
    faults = error.errors(include_url=False)
    # A misspelt key is missing, too: the spelling is the fault to tell.
    misspelt = (each for each in faults if each["type"] == "extra_forbidden")
    fault = next(misspelt, faults[0]) if faults[0]["type"] == "missing" else faults[0]
    keys = list(place)
    for key in fault["loc"]:
        # Not the names by which pydantic tells models apart.
        if isinstance(key, int) or (isinstance(data, dict) and key in data):
            keys.append(str(key))
            data = data[key]
    if fault["type"] == "missing":
        reason = f"{fault['loc'][-1]} is missing: add it"
    elif fault["type"] == "extra_forbidden":
        schema = model.model_json_schema()
        blocks = [schema, *schema.get("$defs", {}).values()]
        known = {key for each in blocks for key in each.get("properties", {})}
        name = keys.pop()
        near = _suggestion(name, known)
        reason = f"{name} is not known here: {near or 'correct its spelling or remove it'}"
    else:
        reason = f"{textwrap.shorten(repr(fault['input']), 100)}: {fault['msg']}"
        keys = keys or ["the file"]
    return ": ".join(filter(None, [".".join(keys), reason]))


def _suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


def check_known(names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Refuse a name that is not one of those known there."""
    for name in names:
        if name not in known:
            near = _suggestion(str(name), known)
            raise SuiteError(
                f"{place}: {name} is not one of {', '.join(known)}" + (f": {near}" if near else "")
            )


def check_unique(names: Iterable[str], path: str | Path) -> None:
    """Refuse an id that is given twice."""
    for name, times in Counter(names).items():
        if times > 1:
            raise SuiteError(f"{path}: the id {name} is given twice: keep one of the two")


def check_plain(data: Any, path: str | Path) -> None:
    """Refuse dates, infinities and values that contain themselves, all of which YAML has."""
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SuiteError(
            f"{path}: holds a value that is no finite number, text, list or mapping: {error}"
        ) from error
