"""At home among its peers: the signature of stable-baselines3, typed wheels."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
from setuptools import build_meta

from powr import POWR
from tests.powr.environments import Corridor

ROOT = Path(__file__).parents[2]


def test_predict_has_the_signature_and_the_default_of_stable_baselines3():
    agent = POWR(Corridor())
    memory = object()
    action, state = agent.predict(3, memory, np.array([True]), True)
    assert (action, state) == (0, memory)
    sampled = {int(agent.predict(3)[0]) for _ in range(50)}
    assert sampled == {0, 1}


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
