"""The theory figure: what is drawn is what the tables say."""

import numpy as np
import pandas as pd
import pytest

from suite.plots import theory
from suite.plots.theory import draw
from suite.theory import tables as computed

STEPS = [1, 10, 100]


def make_tables():
    pmd = pd.DataFrame(
        {
            "model": model,
            "errors": errors,
            "instance": instance,
            "step": step,
            "gaps": (1 + instance) / step,
            "printed_bounds": 100 / step,
            "proven_bounds": 1000 / step,
        }
        for model in ("FrozenLake-v1", "Taxi-v3", "random MDPs")
        for errors in ("exact", "fixed", "decaying")
        for instance in range(3 if model == "random MDPs" else 1)
        for step in STEPS
    )
    estimation = pd.DataFrame(
        {
            "model": model,
            "n": n,
            "seed": seed,
            "error": (1 + seed) / np.sqrt(n),
            "bound": np.nan if model == "continuous" else 10 / np.sqrt(n),
            "loose_bound": np.nan if model == "continuous" else 100 / np.sqrt(n),
        }
        for model in ("FrozenLake-v1", "random", "continuous")
        for n in (100, 400)
        for seed in range(3)
    )
    exponents = pd.DataFrame(
        {
            "model": ["FrozenLake-v1", "random", "continuous"],
            "exponent": [0.5, 0.51, 0.34],
            "low": [0.47, 0.46, 0.3],
            "high": [0.53, 0.56, 0.38],
            "guaranteed": [0.25, 0.25, 0.125],
        }
    )
    compatibility = pd.DataFrame(
        {"kernel": kernel, "n": n, "seed": seed, "error": 1 + seed, "norm": 1 + 10 * place}
        for place, kernel in enumerate(theory.KERNELS)
        for n in (25, 100)
        for seed in range(3)
    )
    return pmd, estimation, exponents, compatibility


@pytest.fixture(scope="module")
def panels():
    return draw(*make_tables()).axes


def line(panel, label):
    return next(line for line in panel.lines if line.get_label() == label)


def legend(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_mirror_descent_shows_median_worst_gap_and_bound(panels):
    np.testing.assert_allclose(line(panels[0], "exact").get_ydata(), [1, 0.1, 0.01])
    np.testing.assert_allclose(line(panels[0], "exact bound").get_ydata(), [100, 10, 1])
    np.testing.assert_allclose(line(panels[2], "fixed").get_ydata(), [2, 0.2, 0.02])
    band = panels[2].collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == 3


def test_errors_and_bounds_of_the_simulation_lemma(panels):
    for label, factor in (("error", 2), ("bound", 10), ("loose_bound", 100)):
        np.testing.assert_allclose(line(panels[3], label).get_ydata(), [factor / 10, factor / 20])


def test_legends_have_the_fitted_exponents_and_the_norms(panels):
    assert "FrozenLake: α = 0.50 ± 0.03" in legend(panels[4])
    assert [text.split("≤ ")[1] for text in legend(panels[5])] == ["1", "11", "21", "31"]


def test_note_speaks_of_what_was_computed():
    assert f"Discount {computed.GAMMA};" in theory.NOTE
    assert f"over {computed.SEEDS} random MDPs or seeds" in theory.NOTE
    assert f"from n = {computed.FITTED_FROM:,} on" in theory.NOTE
