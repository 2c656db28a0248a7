"""YAML files: read strictly, and checked against a model with errors that name the place.

An error says in plain words what is wrong where, and for a misspelt name which one is near.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import yaml

from suite import SuiteError

# Values of a file with every alias (*) written out: ours have a thousand.
MOST_VALUES = 100_000
# What YAML 1.1 reads in base 8 or 60: 010 as 8, 1:30 as 90.
OCTAL_OR_SEXAGESIMAL = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")


class StrictLoader(yaml.SafeLoader):
    """YAML that refuses repeated and non-text keys and reads 1e-6 as a number, as YAML 1.2 does.

    It also refuses what is read differently than written: 010, 1:30, and aliases of aliases that
    make a small file large.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._sizes: dict[int, int] = {}  # values in a node, by its id

    def compose_node(self, parent: Any, index: Any) -> Any:
        mark, is_alias = self.peek_event().start_mark, self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if is_alias and id(node) not in self._sizes:
            raise yaml.MarkedYAMLError(problem="an alias within what it names", problem_mark=mark)
        children = [] if isinstance(node, yaml.ScalarNode) else node.value
        flat = [part for each in children for part in (each if isinstance(each, tuple) else [each])]
        size = self._sizes.setdefault(id(node), 1 + sum(self._sizes[id(part)] for part in flat))
        if size > MOST_VALUES:
            problem = f"more than {MOST_VALUES:,} values, aliases (*) written out: leave some out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return node

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        if OCTAL_OR_SEXAGESIMAL.fullmatch(node.value):
            problem = (
                f"YAML reads {node.value} in base 8 or 60: write a decimal number without leading "
                "zeros, or put text in quotes"
            )
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        is_whole = node.tag.endswith(":int")
        return self.construct_yaml_int(node) if is_whole else self.construct_yaml_float(node)

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


for tag in ("int", "float"):
    StrictLoader.add_constructor(f"tag:yaml.org,2002:{tag}", StrictLoader.construct_number)
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


def content_of(*paths: str | Path) -> list[str]:
    """A parameter of rules, by which a file is seen that was edited and kept its old time."""
    return [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]


# In the place of the parser's own words, where those would not help.
SYNTAX = {
    "second occurrence": "an anchor (&) of this name is there already: rename one of the two",
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
    check_plain(data, path, place)
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
        reason = f"{shorten(repr(fault['input']))}: {fault['msg']}"
        keys = keys or ["the file"]
    return ": ".join(filter(None, [".".join(map(shorten, keys)), reason]))


def shorten(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:97]}..."


def _suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


def check_known(names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Refuse a name that is not one of those known there."""
    for name in names:
        if name not in known:
            near = _suggestion(str(name), known)
            raise SuiteError(
                f"{place}: {shorten(str(name))} is not one of {', '.join(known)}"
                + (f": {near}" if near else "")
            )


def check_unique(names: Iterable[str], path: str | Path) -> None:
    """Refuse an id that is given twice."""
    for name, times in Counter(names).items():
        if times > 1:
            raise SuiteError(f"{path}: the id {name} is given twice: keep one of the two")


def check_plain(data: Any, path: str | Path, place: Iterable[str] = ()) -> None:
    """Refuse dates, infinities and integers beyond 64 bits, all of which YAML has."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            check_plain(value, path, [*place, str(key)])
    elif not (
        data is None
        or isinstance(data, str)
        or (isinstance(data, int) and abs(data) < 2**63)
        or (isinstance(data, float) and math.isfinite(data))
    ):
        where = ".".join(map(shorten, place)) or "the file"
        raise SuiteError(
            f"{path}: {where}: {shorten(str(data))} is no finite number, text, list or mapping: "
            "give a finite number below 2^63, or put text in quotes"
        )
