"""Files of a figure: all formats, the same bytes twice."""

import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from suite.config.models import AUTHORS, DEEP_OF_SOURCE, LIBRARY
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


def test_the_papers_figures_show_both_policies_of_powr_and_baselines_of_one_source():
    once = make_tables()
    both = [pd.concat([each, each.assign(policy="sampled")], ignore_index=True) for each in once]
    tables = render.Tables(*both)
    authors = tables.summary["kind"].replace(DEEP_OF_SOURCE[LIBRARY], DEEP_OF_SOURCE[AUTHORS])
    powr = ["powr-deterministic", "powr-sampled"]
    for summary, source, others in (
        (tables.summary, LIBRARY, ["dqn-tuned"]),
        (tables.summary, AUTHORS, []),
        (tables.summary.assign(kind=authors), AUTHORS, ["dqn-tuned"]),
    ):
        shown = render.of_paper(tables._replace(summary=summary), source)
        for table in shown:
            assert sorted(set(table["algorithm"])) == sorted([*others, *powr])
            baselines = table[table["algorithm"] == "dqn-tuned"]
            assert set(baselines["policy"]) <= {"deterministic"}


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
    assert "neither the paper's POWR nor a baseline" in capsys.readouterr().err
    path.write_bytes(b"a,b\n1,2\n1,2,3\n")
    assert render.main(options)
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r"summary\.csv: is not a table .*: delete it and run snakemake again$", line)
    path.unlink()
    assert render.main(options)
    assert "summary.csv" in capsys.readouterr().err


def test_more_environments_than_fit_in_a_row():
    figure, panels = render.make_panels(["a", "b", "c", "d"], height=2)
    assert [panel.get_title() for panel in panels] == ["a", "b", "c", "d"]
    assert len(figure.axes) == 4
    assert figure.get_size_inches().tolist() == [5.5, 4]
