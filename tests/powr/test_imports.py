"""Whom powr imports, and what importing it loads."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "powr"
LIBRARIES = {"gymnasium", "matplotlib", "numpy", "PIL", "powr", "scipy", "tqdm"}


def imports(path):
    """The modules that a file imports, in full."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_powr_knows_nothing_of_suite_and_extension_and_its_core_nothing_of_its_shell():
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 20
    for path in files:
        used = set(imports(path))
        tops = {name.partition(".")[0] for name in used}
        assert tops <= LIBRARIES | sys.stdlib_module_names, path
        if path.name not in ("command.py", "__main__.py") and path.parent.name != "pictures":
            beyond = ("powr.pictures", "powr.command", "matplotlib", "PIL")
            assert not [name for name in used if name.startswith(beyond)], path


def test_no_two_files_have_one_name():
    names = [path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert len(names) == len(set(names))


def test_importing_powr_loads_no_heavy_package():
    program = (
        "import sys, powr\n"
        "heavy = {'torch', 'stable_baselines3', 'sb3_contrib', 'pandas', 'matplotlib', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert finished.stdout.strip() == "[]"
