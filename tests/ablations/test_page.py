"""docs/ablations.md shows every ablation of envs.yaml, with the numbers of its table."""

from pathlib import Path

import pandas as pd
import pytest

from suite import config
from suite.ablations import page

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "results" / "ablations"
STUDY = config.load(ROOT / "envs.yaml")
TEXT = (ROOT / "docs" / "ablations.md").read_text(encoding="utf-8")


def test_every_number_is_that_of_the_tables():
    tables = {
        name: pd.read_csv(TABLES / f"{name}.csv") for name in [*STUDY["ablations"], "rank_error"]
    }
    assert page.render(tables) == TEXT


@pytest.mark.parametrize("name", STUDY["ablations"])
def test_a_table_has_every_run_that_is_planned(name):
    table = pd.read_csv(TABLES / f"{name}.csv")
    planned = config.variant_runs(STUDY, name)
    assert len(table) == len(planned)
    assert set(table["timesteps"]) == set(STUDY["ablations"][name]["timesteps"].values())


@pytest.mark.parametrize("name", STUDY["ablations"])
def test_a_figure_is_shown_and_linked(name):
    assert f"](../figures/ablations/{name}.png)" in TEXT
    assert f"](../results/ablations/{name}.csv)" in TEXT
    for suffix in ("pdf", "svg", "png"):
        assert (ROOT / "figures" / "ablations" / f"{name}.{suffix}").stat().st_size > 1000
