"""docs/ablations.md is what the shipped table says, for every ablation of envs.yaml."""

from pathlib import Path

import pandas as pd

from suite import config
from suite.ablations import page

ROOT = Path(__file__).parents[2]
TABLE = pd.read_csv(ROOT / "results" / "ablations" / "ablations.csv")
TEXT = (ROOT / "docs" / "ablations.md").read_text(encoding="utf-8")


def test_every_number_is_that_of_the_table():
    assert page.render(TABLE) == TEXT


def test_the_table_has_every_ablation_on_every_environment():
    ablations = config.load(ROOT / "envs.yaml")["ablations"]
    planned = {
        (environment, name, plan["seeds"], timesteps)
        for name, plan in ablations.items()
        for environment, timesteps in plan["timesteps"].items()
    }
    columns = ["environment", "ablation", "seeds_planned", "timesteps"]
    assert set(TABLE[columns].itertuples(index=False, name=None)) == planned
    assert len(TABLE) == len(planned)


def test_every_ablation_is_explained_and_the_figure_shown():
    for name in config.load(ROOT / "envs.yaml")["ablations"]:
        assert f"\n- `{name}`" in TEXT
    assert "](../figures/ablations/choices.png)" in TEXT
    for suffix in ("pdf", "svg", "png"):
        assert (ROOT / "figures" / "ablations" / f"choices.{suffix}").stat().st_size > 1000
