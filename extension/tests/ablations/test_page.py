"""The page and the README's tables are what the shipped tables say."""

from pathlib import Path

import pandas as pd

from extension import readme
from extension.ablations import page, tables
from suite import config

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results" / "ablations"
TABLE, PLANNERS = (pd.read_csv(FOLDER / f"{name}.csv") for name in page.TABLES)


def test_every_number_is_that_of_the_tables():
    assert page.render(TABLE, PLANNERS) == (FOLDER / "ablations.md").read_text(encoding="utf-8")


def test_the_readme_has_the_shipped_tables():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in readme.PARTS:
        assert readme.part(name) in text


def test_the_table_has_every_ablation_on_every_environment():
    study = config.load(ROOT / "study.yaml")
    planned = {
        (environment, name, plan.seeds, timesteps)
        for name, plan in study.ablations.items()
        if name != tables.PLANNERS
        for environment, timesteps in plan.timesteps.items()
    }
    columns = ["environment", "ablation", "seeds_planned", "timesteps"]
    assert set(TABLE[columns].itertuples(index=False, name=None)) == planned
    assert len(TABLE) == len(planned)
