"""The theory figure: what is drawn is what the shipped tables say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suite.plots import theory

FOLDER = Path(__file__).parents[2] / "results/theory"


@pytest.fixture(scope="module")
def tables():
    return {name: pd.read_csv(FOLDER / f"{name}.csv") for name in theory.TABLES}


@pytest.fixture(scope="module")
def panels(tables):
    return theory.draw(*tables.values()).axes


def line(panel, label):
    return next(line for line in panel.lines if line.get_label() == label).get_ydata()


def texts(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_mirror_descent_shows_median_worst_gap_and_bound(tables, panels):
    assert panels[2].get_title(loc="left") == "(c) random MDPs"
    rows = tables["inexact_pmd"].query("model == 'random MDPs' and errors == 'fixed'")
    gaps, bounds = (rows.pivot(columns="step", values=name) for name in ("gaps", "printed_bounds"))
    np.testing.assert_allclose(line(panels[2], "fixed"), gaps.median())
    np.testing.assert_allclose(line(panels[2], "fixed bound"), bounds.median())
    worst = max(band.get_paths()[0].vertices[:, 1].max() for band in panels[2].collections)
    assert worst == pytest.approx(
        tables["inexact_pmd"].query("model == 'random MDPs'")["gaps"].max()
    )


def test_simulation_lemma_rates_and_norms(tables, panels):
    rows = tables["estimation"].query("model == 'FrozenLake-v1'")
    for column in ("error", "bound", "loose_bound"):
        medians = rows.pivot(index="seed", columns="n", values=column).median()
        np.testing.assert_allclose(line(panels[3], column), medians)
    exponent = tables["exponents"].set_index("model").loc["continuous", "exponent"]
    assert any(f"continuous: α = {exponent:.2f} ± " in text for text in texts(panels[4]))
    assert all(" ≤ " in text for text in texts(panels[5]))


def test_the_title_says_that_the_bounds_hold_only_if_all_do(tables):
    def title(**changed):
        (legend,) = theory.draw(*{**tables, **changed}.values()).legends
        return legend.get_title().get_text()

    assert "below its bound" in title()
    beyond = tables["estimation"].copy()
    beyond.loc[0, "error"] = 2 * beyond.loc[0, "bound"]
    assert not title(estimation=beyond)
