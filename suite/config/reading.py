"""YAML files: read strictly, and checked against a model with errors that name the place.

An error says in plain words what is wrong where, and for a misspelt name which one is near.
"""

from __future__ import annotations

import difflib
import json
import re
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
        fault = _first_fault(error, data, model, place)
        raise SuiteError(f"{path}: {fault}") from error


def _first_fault(
    error: pydantic.ValidationError, data: Any, model: type[Model], place: Iterable[str]
) -> str:
    faults = error.errors(include_url=False)
    # A misspelt key is missing, too: the spelling is the fault to tell.
    misspelt = (each for each in faults if each["type"] == "extra_forbidden")
    fault = next(misspelt, faults[0]) if faults[0]["type"] == "missing" else faults[0]
    is_value = fault["type"] not in ("missing", "extra_forbidden")
    *parents, name = fault["loc"] or [""]
    keys = list(place)
    for key in fault["loc"] if is_value else parents:
        # Not the names by which pydantic tells models apart.
        if isinstance(key, int) or (isinstance(data, dict) and key in data):
            keys.append(str(key))
            data = data[key]
    if is_value:
        value = repr(fault["input"])
        reason = f"{value if len(value) < 100 else value[:100] + ' ...'}: {_in_words(fault)}"
        keys = keys or ["the file"]
    elif fault["type"] == "missing":
        reason = f"{name} is missing: add it"
    else:
        schema = model.model_json_schema()
        blocks = [schema, *schema.get("$defs", {}).values()]
        near = _suggestion(
            str(name), {key for each in blocks for key in each.get("properties", {})}
        )
        reason = f"{name} is not known here: {near or 'correct its spelling or remove it'}"
    return ": ".join(filter(None, [".".join(keys), reason]))


def _suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


# What is due, by pydantic's name of the fault; its limits are filled in.
WORDS = {
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "float_type": "give a number",
    "finite_number": "give a finite number",
    "string_type": "give text",
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "list_type": "give a list",
    "dict_type": "give keys with values",
    "model_type": "give keys with values",
    "model_attributes_type": "give keys with values",
    "greater_than": "give more than {gt}",
    "greater_than_equal": "give {ge} or more",
    "less_than": "give less than {lt}",
    "less_than_equal": "give {le} or less",
    "too_short": "is empty: give {min_length} or more",
    "string_too_short": "is empty: give text",
    "string_pattern_mismatch": "does not have the form {pattern}",
    "literal_error": "is not one of {expected}",
    "union_tag_invalid": "{tag} is not one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing: add it",
    "value_error": "{error}",
}


def _in_words(fault: Any) -> str:
    words = WORDS.get(fault["type"], "is not allowed here").format(**fault.get("ctx", {}))
    if fault["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", words)
        near = _suggestion(str(fault["input"]), choices)
        words += f": {near}" if near else ""
    return words


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
