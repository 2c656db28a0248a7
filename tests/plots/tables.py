"""Small aggregated tables for the tests: two environments, two algorithms, three seeds."""

import pandas as pd

from suite.config.models import DEEP_OF_SOURCE, LIBRARY, POWR
from suite.plots.render import Tables

GRID = [100, 1000, 10_000]
KEY = ["environment", "algorithm", "policy"]
KINDS = {"powr": POWR, "dqn-tuned": DEEP_OF_SOURCE[LIBRARY]}


def make_tables(seeds=(3, 3, 3, 3)) -> Tables:
    """`seeds`: how many runs of the three planned are there, in the order of PAIRS."""
    counts = dict(zip(PAIRS, seeds, strict=True))
    curves = [
        (*pair, "deterministic", timestep, mean, mean - spread, mean + spread, counts[pair])
        for pair, (means, spread) in CURVES.items()
        for timestep, mean in zip(GRID, means, strict=False)
        if counts[pair]
    ]
    runs = [
        (*pair, "deterministic", seed, THRESHOLDS[pair[0]][0], timestep)
        for pair, times in TIMES.items()
        for seed, timestep in enumerate(times[: counts[pair]])
    ]
    summary = [
        (*pair, "deterministic", KINDS[pair[1]], counts[pair], 3, budget(pair), threshold)
        for pair in PAIRS
        for threshold in THRESHOLDS[pair[0]]
    ]
    return Tables(
        pd.DataFrame(
            curves,
            columns=[*KEY, "timestep", "mean", "min", "max", "seeds"],
        ),
        pd.DataFrame(runs, columns=[*KEY, "seed", "threshold", "first_arrival"]),
        pd.DataFrame(
            summary,
            columns=[*KEY, "kind", "seeds", "seeds_planned", "timesteps", "threshold"],
        ),
    )


def budget(pair):
    return GRID[len(CURVES[pair][0]) - 1]


THRESHOLDS = {"FrozenLake-v1": [0.8], "Taxi-v3": [6, 8]}
CURVES = {
    ("FrozenLake-v1", "powr"): ([0.0, 1.0], 0.25),
    ("FrozenLake-v1", "dqn-tuned"): ([0.0, 0.25, 0.5], 0.0),
    ("Taxi-v3", "powr"): ([-700.0, 7.0], 1.0),
    ("Taxi-v3", "dqn-tuned"): ([-2000.0, -200.0, -200.0], 10.0),
}
PAIRS = list(CURVES)
TIMES = {
    ("FrozenLake-v1", "powr"): [100, 1000, 1000],
    ("FrozenLake-v1", "dqn-tuned"): [1000, None, 10_000],
    ("Taxi-v3", "powr"): [1000, 1000, 1000],
    ("Taxi-v3", "dqn-tuned"): [None, None, None],
}
