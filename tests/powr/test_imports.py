"""What the core imports, how long it is to read, and what importing powr loads."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "powr"
READ_FIRST = ["agent.py", "world_model.py", "mirror_descent.py", "kernels.py"]
CORE = [
    *map(PACKAGE.joinpath, READ_FIRST),
    *map(PACKAGE.joinpath, ("data.py", "policy.py", "validation.py", "tabular.py")),
    *PACKAGE.glob("solvers/*.py"),
    *PACKAGE.glob("environments/*.py"),
]
BEYOND = re.compile(r"\bpowr(\.| import )(optimistic|OptimisticPOWR|pictures|command)")


def test_the_core_imports_nothing_beyond_it():
    for path in CORE:
        imports = [
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert [line for line in imports if BEYOND.search(line)] == [], path


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
