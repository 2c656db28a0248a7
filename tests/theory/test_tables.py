"""The tables of the figure, in small."""

import pytest

from suite.theory import tables

STEPS = {"FrozenLake-v1": 20, "Taxi-v3": 2, "random MDPs": 20}
NAMES = ["compatibility.csv", "estimation.csv", "exponents.csv", "inexact_pmd.csv"]


def test_gaps_stay_below_both_bounds():
    table = tables.descents(STEPS, instances=2)
    assert (table["gaps"] <= table["printed_bounds"]).all()
    assert (table["gaps"] <= table["proven_bounds"]).all()
    counts = table.groupby(["model", "errors"])["instance"].nunique()
    assert (counts["random MDPs", "decaying"], counts["Taxi-v3", "fixed"]) == (2, 1)
    assert table.groupby("model")["step"].max().to_dict() == STEPS


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(tables, "SIZES", [100, 1600, 3200])
    monkeypatch.setattr(tables, "CONTINUOUS_SIZES", [100, 1600, 3200])
    monkeypatch.setattr(tables, "COMPATIBILITY_SIZES", [25])
    monkeypatch.setattr(tables, "SEEDS", 2)
    monkeypatch.setattr(tables, "STEPS", STEPS)


def test_exponents_are_fitted_where_every_pair_was_seen(small):
    errors = tables.estimation_errors(seeds=3)
    spoilt = errors.copy()
    spoilt.loc[spoilt["n"] == 100, "error"] = 1e6
    assert tables.exponents(spoilt).equals(tables.exponents(errors))
    assert tables.exponents(errors)["model"].tolist() == ["FrozenLake-v1", "random", "continuous"]
    assert errors.loc[errors["model"] == "continuous", "bound"].isna().all()


def test_files_are_written_and_the_same_twice(small, tmp_path):
    written = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        assert tables.main(["--out-dir", str(folder)]) == 0
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert sorted(written[0]) == NAMES
    assert written[0] == written[1]
