"""Files of a figure: all formats, the same bytes twice."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY
from suite.plots import render
from suite.results.tables import read_table

from .tables import make_tables

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results(tmp_path):
    (tmp_path / "tiny").mkdir()
    tables = make_tables()
    for name, table in zip(tables._fields, tables, strict=True):
        table.to_csv(tmp_path / "tiny" / f"{name}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("figure", ["training_curves", "threshold_boxplots"])
def test_drawn_twice_is_byte_identical(figure, results):
    """Also in another process, which hashes strings differently."""
    options = ["--scale", "tiny", "--results", str(results), "--out-dir"]
    assert render.main([figure, *options, str(results / "first")]) == 0
    subprocess.run(
        [sys.executable, "-m", "suite", "figure", figure, *options, str(results / "second")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1"},
    )
    names = [f"{figure}.{suffix}" for suffix in ("pdf", "png", "svg")]
    assert sorted(path.name for path in (results / "first").iterdir()) == names
    for name in names:
        assert (results / "first" / name).read_bytes() == (results / "second" / name).read_bytes()


@pytest.mark.parametrize("figure", ["answer", "ranking", "theory"])
def test_figures_of_shipped_tables_are_byte_identical_too(figure):
    """PDF and SVG; the PNG is made of the same drawing."""
    module = importlib.import_module(f"suite.plots.{figure}")
    folder = ROOT / "results" / ("theory" if figure == "theory" else "paper")
    data = [read_table(folder / f"{table}.csv") for table in module.TABLES]
    first, second = (
        render.files(lambda tables: module.draw(*tables), data, Path(figure), ("pdf", "svg"))
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    ("source", "powr"), [(LIBRARY, ["powr"]), (AUTHORS, ["powr", "powr-greedy"])]
)
def test_the_papers_figures_show_sampled_powr_first_and_greedy_baselines(source, powr):
    once = make_tables()
    both = [pd.concat([each, each.assign(policy="sampled")], ignore_index=True) for each in once]
    kinds = {DEEP_OF_SOURCE[LIBRARY]: DEEP_OF_SOURCE[source]}
    tables = render.Tables(*both)
    tables = tables._replace(summary=tables.summary.replace({"kind": kinds}))
    shown = render.of_paper(tables, source)
    assert shown.algorithms == [*powr, "dqn-tuned"]
    policies = shown.summary.groupby("algorithm")["policy"].unique().map(list).to_dict()
    assert policies["powr"] == ["sampled"]
    assert policies["dqn-tuned"] == policies.get("powr-greedy", ["deterministic"])


def test_the_authors_version_has_a_name_of_its_own(results):
    options = ["threshold_boxplots", "--scale", "tiny", "--results", str(results)]
    assert render.main([*options, "--authors"]) == render.main(options) == 0
    drawn = results / "tiny" / "threshold_boxplots.svg"
    authors = results / "tiny" / "threshold_boxplots_authors.svg"
    assert drawn.read_text() != authors.read_text()


def test_a_table_that_cannot_be_drawn_is_one_message(results, capsys):
    options = ["training_curves", "--scale", "tiny", "--results", str(results)]
    path = results / "tiny" / "summary.csv"
    pd.read_csv(path).assign(kind="textbook").to_csv(path, index=False)
    assert render.main(options)
    assert "summary.csv" in capsys.readouterr().err
    path.write_bytes(b"a,b\n1,2\n1,2,3\n")
    assert render.main(options)
    (line,) = capsys.readouterr().err.splitlines()
    assert "summary.csv" in line
    path.unlink()
    assert render.main(options)
    assert "summary.csv" in capsys.readouterr().err


def test_more_environments_than_fit_in_a_row():
    figure, panels = render.make_panels(["a", "b", "c", "d"], height=2)
    assert [panel.get_title() for panel in panels] == ["a", "b", "c", "d"]
    assert len(figure.axes) == 4
    assert figure.get_size_inches().tolist() == [5.5, 4]
