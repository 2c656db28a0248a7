"""POWR under every combination of settings, from evaluations to verdicts and their counts."""

import pandas as pd
import pytest

from suite import config, multiverse
from suite.claims import document
from suite.claims.rules import FAILS, HOLDS
from tests.claims.test_rules import SPREAD, reaching_at
from tests.support.run_files import ROOT

TEXT = document.load(ROOT / "claims.yaml")
BASELINES = [name for settings in TEXT.sets.values() for name in settings.baselines.values()]


def at(timesteps, **columns):
    """Seven runs with a return of -200, and of 100 from about these timesteps on."""
    runs = reaching_at(timesteps * SPREAD)
    return runs.assign(mean=300 * runs["mean"] - 200, **columns)


@pytest.fixture(scope="module")
def table(real_study):
    """Baselines are later than POWR with random starts, and earlier with fixed ones."""
    planned = real_study.combinations(config.MULTIVERSE)
    runs = [at(3000, environment=each.environment, combination=each.digest) for each in planned]
    times = {each.environment: 30_000 for each in planned} | dict.fromkeys(TEXT.fixed.values(), 300)
    baselines = [
        at(time, environment=place, algorithm=name)
        for place, time in times.items()
        for name in BASELINES
    ]
    return multiverse.universes(real_study, TEXT, pd.concat(runs), pd.concat(baselines))


def test_each_combination_is_judged_against_baselines_with_the_same_starts(table, real_study):
    assert len(table) == len(real_study.combinations(config.MULTIVERSE))
    assert table.groupby("start")["verdict"].unique().map(list).to_dict() == {
        "fixed": [FAILS],
        "random": [HOLDS],
    }
    assert table.groupby("start")["ratio"].median().to_dict() == pytest.approx(
        {"fixed": 0.1, "random": 10}, rel=0.2
    )
    assert set(table["environment"]) == {"FrozenLake-v1", "Taxi-v3", "MountainCar-v0"}


def test_one_combination_of_each_environment_has_the_settings_of_the_study(table):
    best = table[table["best_evidenced"] & (table["start"] == "random")]
    assert best["environment"].tolist() == ["FrozenLake-v1", "Taxi-v3", "MountainCar-v0"]
    assert (best["seeds"] == 7).all()


def test_counts_are_of_verdicts_by_environment_and_tier(table):
    counts = multiverse.counts(table)
    assert (counts["combinations"] == counts[list(multiverse.VERDICTS)].sum(axis=1)).all()
    assert counts["fails"].sum() == (table["start"] == "fixed").sum()
    assert counts["combinations"].sum() == len(table)
