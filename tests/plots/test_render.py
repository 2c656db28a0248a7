"""Files of a figure: all formats, the same bytes twice."""

import os
import re
import subprocess
import sys

import pytest

from suite.plots import render

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


def test_a_missing_table_is_one_message(tmp_path, capsys):
    assert render.main(["training_curves", "--scale", "none", "--results", str(tmp_path)])
    assert "curves.csv" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no_such_figure", "style", "../render", ""])
def test_an_unknown_figure_is_one_message(tmp_path, capsys, name):
    assert render.main([name, "--scale", "none", "--results", str(tmp_path)])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"suite figure: no figure {name}: ")


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
