"""ablations.md is what the shipped tables say, for every ablation of study.yaml."""

from pathlib import Path

import pandas as pd

from extension.ablations import page, tables
from suite import config

ROOT = Path(__file__).parents[2]
TABLE = pd.read_csv(ROOT / "results" / "ablations" / "ablations.csv")
PLANNERS = pd.read_csv(ROOT / "results" / "ablations" / "planners.csv")
TEXT = (ROOT / "results" / "ablations" / "ablations.md").read_text(encoding="utf-8")


def test_every_number_is_that_of_the_tables():
    assert page.render(TABLE, PLANNERS) == TEXT


def test_the_table_has_every_ablation_on_every_environment():
    ablations = config.load(ROOT / "study.yaml").ablations
    planned = {
        (environment, name, plan.seeds, timesteps)
        for name, plan in ablations.items()
        if name != tables.PLANNERS
        for environment, timesteps in plan.timesteps.items()
    }
    columns = ["environment", "ablation", "seeds_planned", "timesteps"]
    assert set(TABLE[columns].itertuples(index=False, name=None)) == planned
    assert len(TABLE) == len(planned)


def test_the_planners_table_has_every_combination():
    ablation = config.load(ROOT / "study.yaml").ablations[tables.PLANNERS]
    planned = {
        (environment, rhythm, optimism, planner, ablation.seeds, timesteps)
        for environment, timesteps in ablation.timesteps.items()
        for rhythm in ("within", "between")
        for optimism in ("on", "off")
        for planner in tables.PLANNER_NAMES.values()
    }
    columns = ["environment", *tables.CHOICES, "seeds_planned", "timesteps"]
    assert set(PLANNERS[columns].itertuples(index=False, name=None)) == planned
    assert len(PLANNERS) == len(planned) == 36


def test_every_ablation_is_explained_and_the_figures_shown():
    for name in set(TABLE["ablation"]):
        assert f"\n- `{name}`" in TEXT
    for name in tables.PLANNER_NAMES.values():
        assert f"\n- **{name}**" in TEXT
    for figure in ("choices", "planners"):
        assert f"](../../figures/ablations/{figure}.png)" in TEXT
        for suffix in ("pdf", "svg", "png"):
            assert (ROOT / "figures" / "ablations" / f"{figure}.{suffix}").stat().st_size > 1000
