"""Whom powr imports, what importing it loads, and what is installed."""

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from setuptools import build_meta

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
        if path.name not in ("command.py", "__main__.py", "pictures.py", "animation.py"):
            beyond = ("powr.pictures", "powr.animation", "powr.command", "matplotlib", "PIL")
            assert not [name for name in used if name.startswith(beyond)], path
    names = [path.name for path in files if path.name != "__init__.py"]
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


def test_the_wheel_holds_every_module_and_its_types(tmp_path, monkeypatch):
    """Built from a copy, since setuptools leaves its workings beside what it builds."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "powr", source / "powr", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    monkeypatch.chdir(source)
    (tmp_path / "wheel").mkdir()
    name = build_meta.build_wheel(str(tmp_path / "wheel"))
    with zipfile.ZipFile(tmp_path / "wheel" / name) as wheel:
        held = {each for each in wheel.namelist() if each.startswith("powr/")}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "powr").rglob("*.py")}
    assert held == modules | {"powr/py.typed"}
