"""Files of a figure: all formats, the same bytes twice."""

import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from suite.config.kinds import AUTHORS, LIBRARY
from suite.plots import render, threshold_boxplots

from .tables import make_tables


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


def test_the_authors_version_shows_their_settings_alone(results):
    """Under a name of its own."""
    table = results / "tiny" / "summary.csv"
    summary = pd.read_csv(table)
    summary.loc[summary["algorithm"] == "dqn-tuned", "source"] = AUTHORS
    summary.to_csv(table, index=False)
    options = ["threshold_boxplots", "--scale", "tiny", "--results", str(results)]
    assert render.main([*options, "--authors"]) == render.main(options) == 0
    drawn = {
        name: (results / "tiny" / f"{name}.svg").read_text()
        for name in ("threshold_boxplots", "threshold_boxplots_authors")
    }
    assert drawn["threshold_boxplots"] != drawn["threshold_boxplots_authors"]
    tables = render.read_tables(results / "tiny", "threshold_boxplots", render.Tables)
    assert render.of_source(tables, AUTHORS).algorithms == ["dqn-tuned"]
    assert set(render.of_source(tables, AUTHORS).thresholds["algorithm"]) == {"dqn-tuned"}
    assert render.of_source(tables, LIBRARY).algorithms == ["powr"]


def test_a_scale_without_the_authors_settings_is_one_message(results, capsys):
    options = ["training_curves", "--scale", "tiny", "--results", str(results), "--authors"]
    assert render.main(options)
    (line,) = capsys.readouterr().err.splitlines()
    assert "no algorithm with authors' probable settings" in line


def test_captions_say_under_which_settings():
    tables = make_tables()
    assert "as their libraries have them" in threshold_boxplots.draw(tables).get_supxlabel()
    authors = tables._replace(summary=tables.summary.assign(source=AUTHORS))
    assert "authors probably used" in threshold_boxplots.draw(authors).get_supxlabel()


def test_a_missing_table_is_one_message(tmp_path, capsys):
    assert render.main(["training_curves", "--scale", "none", "--results", str(tmp_path)])
    assert "curves.csv" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no_such_figure", "style", "../render", ""])
def test_an_unknown_figure_is_one_message(tmp_path, capsys, name):
    assert render.main([name, "--scale", "none", "--results", str(tmp_path)])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"python -m suite figure: no figure {name}: ")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n1,2,3\n", b"\xff\xfe"])
def test_a_damaged_table_is_one_message(results, capsys, content):
    (results / "tiny" / "curves.csv").write_bytes(content)
    assert render.main(["training_curves", "--scale", "tiny", "--results", str(results)])
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r"curves\.csv: is not a table .*: delete it and run snakemake again$", line)


def test_other_data_is_another_drawing(results):
    options = ["training_curves", "--scale", "tiny", "--results", str(results)]
    path = results / "tiny" / "training_curves.svg"
    render.main(options)
    before = path.read_bytes()
    table = results / "tiny" / "curves.csv"
    table.write_text(table.read_text().replace(",1.0,", ",0.9,"))
    render.main(options)
    assert path.read_bytes() != before


def test_more_environments_than_fit_in_a_row():
    figure, panels = render.make_panels(["a", "b", "c", "d"], height=2)
    assert [panel.get_title() for panel in panels] == ["a", "b", "c", "d"]
    assert len(figure.axes) == 4
    assert figure.get_size_inches().tolist() == [5.5, 4]
