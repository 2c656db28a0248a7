"""Do the places that documents point at exist? Read from the sources, without importing them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def is_test(name: str) -> bool:
    """A test as pytest names it: path::function or path::Class::function."""
    path, _, qualified = name.partition("::")
    return qualified in defined(path)


def is_code(name: str) -> bool:
    """A function, class, method or constant as path:name or path:Class.name."""
    path, _, qualified = name.partition(":")
    return qualified.replace(".", "::") in defined(path)


@cache
def defined(path: str) -> frozenset[str]:
    """Qualified names defined in a source file; none if there is no such file."""
    file = ROOT / path
    return frozenset(_names(ast.parse(file.read_text()))) if file.is_file() else frozenset()


def _names(node: ast.AST, prefix: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield prefix + child.name
            yield from _names(child, f"{prefix}{child.name}::")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))
