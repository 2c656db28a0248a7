"""What the core imports, how long it is to read, and what importing powr loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "powr"
READ_FIRST = ["agent.py", "world_model.py", "mirror_descent.py", "kernels.py"]
CORE = sorted(
    [
        *map(PACKAGE.joinpath, READ_FIRST),
        *map(PACKAGE.joinpath, ("data.py", "policy.py", "validation.py", "tabular.py")),
        *PACKAGE.glob("solvers/*.py"),
        *PACKAGE.glob("environments/*.py"),
    ]
)
BEYOND = ("powr.optimistic", "powr.pictures", "powr.command")


def imported_by(source: str) -> set[str]:
    """Every module that a source may import, within functions too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not followed here"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def beyond_the_core(source: str) -> set[str]:
    names = imported_by(source)
    return {name for name in names if any(f"{name}.".startswith(f"{each}.") for each in BEYOND)}


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_imports_nothing_beyond_it(path):
    assert beyond_the_core(path.read_text()) == set()


def test_the_algorithm_is_read_in_four_files_of_800_lines_together():
    lines = sum(len((PACKAGE / name).read_text().splitlines()) for name in READ_FIRST)
    assert lines <= 800


def test_importing_powr_loads_no_heavy_package():
    program = (
        "import sys, powr, powr.storage\n"
        "heavy = {'torch', 'stable_baselines3', 'sb3_contrib', 'pandas', 'matplotlib', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert finished.stdout.strip() == "[]"
