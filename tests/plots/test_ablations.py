"""The figures of the ablations: what is drawn is what the tables say."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suite import config
from suite.ablations.tables import median_time
from suite.plots import render
from suite.plots.ablations import (
    alternation,
    heat_map,
    kernels,
    prior,
    rank,
    robustness,
    sensitivity,
)

ROOT = Path(__file__).parents[2]
ICE, CAR = "FrozenLake-v1", "MountainCar-v0"


def runs(environment=ICE, seeds=3, reached=100.0, late_return=1.0, **settings):
    """One setting's runs: seed s arrives after (1 + s) times `reached`, none if that is NaN."""
    return pd.DataFrame(
        {
            "environment": environment,
            "algorithm": "powr",
            **settings,
            "seed": seed,
            "timesteps": 2000,
            "threshold": 0.8,
            "reached": (1 + seed) * reached,
            "late_return": late_return,
            "optimal_return": 1.0 if environment == ICE else math.nan,
        }
        for seed in range(seeds)
    )


def texts(panel):
    return [text.get_text() for text in panel.texts]


def test_every_ablation_has_a_figure():
    for name in config.load(ROOT / "envs.yaml")["ablations"]:
        assert render.find(name).__name__ == f"suite.plots.ablations.{name}"


def test_median_counts_a_run_that_never_arrives_as_late():
    table = runs(seeds=3)
    assert median_time(table) == 200
    table.loc[[1, 2], "reached"] = math.nan
    assert math.isinf(median_time(table))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-9, "$10^{-9}$"), (1e-3, "$10^{-3}$"), (0.005, "0.005"), (3e-7, "3e-07"), (0.01, "0.01")],
)
def test_a_setting_is_a_power_of_ten_only_where_it_is_one(value, text):
    assert heat_map.setting(value) == text


def test_heat_map_has_a_number_in_every_cell():
    table = pd.concat(
        [
            runs(environment, reached=reached, episodes_per_epoch=episodes, mirror_steps=steps)
            for environment in (ICE, CAR)
            for episodes, steps, reached in ((1, 1, 100.0), (1, 10, 1000.0), (3, 1, math.nan))
        ]
        + [
            runs(environment, reached=600.0, episodes_per_epoch=3, mirror_steps=10).assign(
                reached=[600.0, 600.0, math.nan]
            )
            for environment in (ICE, CAR)
        ]
    )
    figure = alternation.draw(table)
    for panel in figure.axes:
        assert texts(panel) == ["200", "2,000", "never", "600\n(2/3)"]
        (mesh,) = panel.collections
        np.testing.assert_array_equal(mesh.get_array().mask, [[False, False], [True, False]])
        assert [label.get_text() for label in panel.get_yticklabels()] == ["1", "3"]


def test_sensitivity_shows_times_above_returns():
    table = pd.concat(
        runs(reached=100.0, late_return=value, gamma=gamma, regularization=regularization)
        for gamma, regularization, value in ((0.9, 1e-9, 0.25), (0.9, 1e-6, 1.0), (0.99, 1e-9, 0))
    )
    table = pd.concat([table, runs(gamma=0.99, regularization=1e-6)])
    above, below = sensitivity.draw(table).axes
    assert texts(above) == ["200"] * 4
    assert texts(below) == ["0.25", "0", "1", "1"]
    assert above.get_yticklabels()[0].get_text() == "$10^{-9}$"


def test_prior_shows_every_seed_and_who_never_arrives():
    table = pd.concat([runs(prior=0.0, reached=50.0), runs(prior=1.0, reached=math.nan)])
    (panel,) = prior.draw(table).axes
    points = [
        line for line in panel.lines if line.get_label() == "0.0" and len(line.get_xdata()) == 3
    ]
    np.testing.assert_array_equal(points[0].get_xdata(), [50, 100, 150])
    assert texts(panel) == ["not reached, 0 of 3"]


def test_kernels_have_a_row_each_in_both_panels():
    table = pd.concat(
        runs(CAR, kernel_name=name, kernel_bandwidth="0.6 0.06", late_return=value)
        for name, value in (("Exponential", -105.0), ("Gaussian", -150.0))
    )
    times, returns = kernels.draw(table).axes
    names = [label.get_text() for label in times.get_yticklabels()]
    assert names == ["Exponential (0.6, 0.06)", "Gaussian (0.6, 0.06)"]
    shown = [line.get_xdata() for line in returns.lines if len(line.get_xdata()) == 3]
    np.testing.assert_array_equal(shown, [[-105] * 3, [-150] * 3])


def test_rank_shows_errors_and_runs_of_both_methods():
    errors = pd.DataFrame(
        {
            "seed": seed,
            "transitions": 300,
            "regularization": regularization,
            "method": method,
            "max_rank": size,
            "error": (1 + seed) / size,
            "other_greedy": 0.1,
        }
        for regularization in (1e-9, 1e-6)
        for method in ("low_rank", "subset")
        for size in (50, 100)
        for seed in range(3)
    )
    table = pd.concat(
        runs(CAR, method=method, max_rank=size, reached=math.nan if size == 50 else 100.0)
        for method in ("low_rank", "subset")
        for size in (50, 100)
    )
    error, _, times = rank.draw(rank.Tables(table, errors)).axes
    for line in error.lines:
        np.testing.assert_allclose(line.get_ydata(), [2 / 50, 2 / 100])
    medians = [line for line in times.lines if line.get_label() in rank.NAMES]
    assert [list(line.get_ydata()) for line in medians] == [[200], [200]]
    hollow = [line for line in times.lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_ydata()) for line in hollow] == [[2000] * 3] * 2
    assert texts(times) == ["0 of 3", "3 of 3"] * 2


@pytest.mark.parametrize(("environment", "optima"), [(ICE, [1.0]), (CAR, [])])
def test_robustness_draws_the_optimum_where_it_is_known(environment, optima):
    table = pd.concat(runs(environment).assign(algorithm=name) for name in robustness.LOOKS)
    curves = pd.DataFrame(
        {
            "environment": environment,
            "algorithm": name,
            "timestep": timestep,
            "mean": 0.5,
            "min": 0.25,
            "max": 0.75,
        }
        for name in robustness.LOOKS
        for timestep in (100, 1000)
    )
    (panel,) = robustness.draw(robustness.Tables(table, curves)).axes
    drawn = [line.get_ydata()[0] for line in panel.lines if line.get_label() == "optimum"]
    assert drawn == optima
    assert {"powr", "powr-default"} <= {line.get_label() for line in panel.lines}
