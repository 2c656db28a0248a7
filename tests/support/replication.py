"""A replication without training: run files of made-up returns, and all that is made of them."""

from pathlib import Path
from typing import Any

import yaml

from suite import config
from suite.claims import judge
from suite.plots import render
from suite.report import report
from suite.results import aggregate
from suite.training.evaluation import planned_grid
from suite.training.run import records_sampled
from tests.support.run_files import clock, csv_text, write_run

FIGURES = ("training_curves", "threshold_boxplots")
ROOT = Path(__file__).parents[2]
# Return before and after learning.
RETURNS = {
    "FrozenLake-v1": (0.0, 1.0),
    "Taxi-v3": (-200.0, 7.9),
    "MountainCar-v0": (-200.0, -105.0),
}
# Timesteps until an algorithm has learned on FrozenLake; elsewhere it takes ten times as long.
LEARNING = {"powr": 200, "a2c": 9000, "dqn": 5000, "ppo": 3000, "trpo": 2000}
LEARNING_OF_PEERS = 300


def write_replication(results: Path, scale: str) -> list[config.Run]:
    """Every run of a scale of the real study."""
    study = config.load(ROOT / "envs.yaml")
    for each in study.combinations(scale):
        low, high = RETURNS[each.environment]
        learning = LEARNING.get(each.algorithm.removesuffix("-authors"), LEARNING_OF_PEERS)
        learning *= 1 if each.environment == "FrozenLake-v1" else 10
        for run in each.runs:
            means = {
                timestep: high if timestep >= learning * (1 + 0.2 * run.seed) else low
                for timestep in planned_grid(each.settings)
            }
            exact = None if run.environment == "MountainCar-v0" else 0.0
            text = csv_text(means, exact, samples=records_sampled(each.settings))
            spent = clock(means, 0.004 if run.algorithm == "powr" else 0.002, 0.1)
            write_run(results, run, text, settings=each.settings, **spent)
    return study.runs(scale)


def cheapen_theorems(document: dict[str, Any]) -> None:
    """Have each theorem of claims.yaml judged in the smallest case: in seconds, not a minute."""
    most = {"random_models": 0, "seeds": 2, "steps": 100}
    for theorem in document["theory"]:
        given = theorem["parameters"]
        for key, value in given.items():
            if key in most:
                given[key] = min(value, most[key])
            elif key in ("models", "sizes"):
                given[key] = value[: 1 if key == "models" else 2]


def make_tables_and_figures(results: Path, scale: str) -> None:
    """All that the report reads, from whatever runs are there."""
    place = ["--scale", scale, "--results", str(results)]
    study = ["--envs", str(ROOT / "envs.yaml")]
    document = yaml.safe_load((ROOT / "claims.yaml").read_text(encoding="utf-8"))
    cheapen_theorems(document)
    cheap = results / "cheap-claims.yaml"
    cheap.write_text(yaml.safe_dump(document), encoding="utf-8")
    statements = ["--claims", str(cheap)]
    statements += ["--deviations", str(ROOT / "deviations.yaml")]
    assert aggregate.main([*place, *study, "--partial"]) == 0
    assert judge.main([*place, *study, *statements]) == 0
    for figure in FIGURES:
        assert render.main([figure, *place, *study]) == 0


def make_report(results: Path, scale: str, claims_file: Path = ROOT / "claims.yaml") -> Path:
    statements = ["--claims", str(claims_file), "--deviations", str(ROOT / "deviations.yaml")]
    options = ["--scale", scale, "--results", str(results), "--envs", str(ROOT / "envs.yaml")]
    options += ["--figures", *(str(results / scale / f"{name}.svg") for name in FIGURES)]
    assert report.main([*options, *statements]) == 0
    return results / scale / "report.html"
