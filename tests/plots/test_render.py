"""What the figures share: which runs they show, files with the same bytes twice, colours."""

import itertools
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY
from suite.plots import render
from suite.plots.render import KNOWN, SPARE, looks
from tests.support.run_files import ROOT


@pytest.fixture
def results(tmp_path):
    (tmp_path / "paper").mkdir()
    for name in ("curves", "runs", "summary"):
        shutil.copy(ROOT / f"results/paper/{name}.csv", tmp_path / "paper")
    return tmp_path


@pytest.mark.parametrize("figure", render.OF_PAPER)
def test_drawn_twice_is_byte_identical(figure, results):
    """Also in another process, which hashes strings differently."""
    options = ["--scale", "paper", "--results", str(results), "--out-dir"]
    assert render.main([figure, *options, str(results / "first")]) == 0
    subprocess.run(
        [sys.executable, "-m", "suite", "figure", figure, *options, str(results / "second")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1"},
    )
    first, second = (
        {path.name: path.read_bytes() for path in (results / name).iterdir()}
        for name in ("first", "second")
    )
    assert set(first) == {f"{figure}.{suffix}" for suffix in ("pdf", "png", "svg")}
    assert first == second


@pytest.mark.parametrize(
    ("source", "powr"), [(LIBRARY, ["powr"]), (AUTHORS, ["powr", "powr-greedy"])]
)
def test_the_papers_figures_show_sampled_powr_first_and_greedy_baselines(source, powr):
    (summary,) = render.of_paper([pd.read_csv(ROOT / "results/paper/summary.csv")], source)
    assert list(looks(summary["algorithm"])) == [*powr, "a2c", "dqn", "ppo", "trpo"]
    policies = summary.groupby("algorithm")["policy"].unique().map(list)
    assert policies.pop("powr") == ["sampled"]
    assert policies.tolist() == [["deterministic"]] * len(policies)
    kinds = summary.loc[~summary["algorithm"].isin(powr), "kind"]
    assert set(kinds) == {DEEP_OF_SOURCE[source]}


def test_the_authors_version_has_a_name_of_its_own(results):
    options = ["threshold_boxplots", "--scale", "paper", "--results", str(results)]
    assert render.main([*options, "--authors"]) == render.main(options) == 0
    drawn = results / "paper" / "threshold_boxplots.svg"
    authors = results / "paper" / "threshold_boxplots_authors.svg"
    assert drawn.read_text() != authors.read_text()


def test_a_table_that_cannot_be_drawn_is_one_message(results, capsys):
    options = ["training_curves", "--scale", "paper", "--results", str(results)]
    path = results / "paper" / "summary.csv"
    pd.read_csv(path).assign(kind="textbook").to_csv(path, index=False)
    for spoil in (lambda: None, lambda: path.write_bytes(b"a,b\n1,2\n1,2,3\n"), path.unlink):
        spoil()
        assert render.main(options)
        (line,) = capsys.readouterr().err.splitlines()
        assert "summary.csv" in line


ALL = [*KNOWN.values(), *SPARE]
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "usual": ([1, 0, 0], [0, 1, 0], [0, 0, 1]),
    "protanopia": (
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ),
    "deuteranopia": (
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ),
    "tritanopia": (
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ),
}
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(colour, sight):
    """CIELAB of a colour as seen with a kind of sight."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    x, y, z = np.cbrt(TO_XYZ @ seen / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("looks", "apart"), [(KNOWN.values(), 30), (ALL, 14)])
def test_all_pairs_of_colours_stay_apart(looks, apart, sight):
    """Without the shapes; a just noticeable difference is about 2."""
    for first, second in itertools.combinations([look.colour for look in looks], 2):
        assert np.linalg.norm(lab(first, sight) - lab(second, sight)) > apart
