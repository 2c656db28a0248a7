"""OptimisticPOWR on eight environments and a bandit, in tables: make sample-efficiency.

Reads the runs of the scale `sample-efficiency` of envs.yaml, and ablations.csv: what each choice
adds. "First" is the first evaluation whose 20 episodes reach the threshold. What comes after it is
judged by the exact return where the environment has a transition table, since 20 episodes on ice
fall below it by chance.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd

from powr import OptimisticPOWR
from suite import config, markdown
from suite.results import aggregate, arrivals
from suite.results.cost import cpu_seconds
from suite.results.statistics import censored_median
from suite.results.tables import read_table

SCALE = "sample-efficiency"
RESULTS = Path("results")
NOTE = (
    "First arrivals are by the mean of 20 episodes, as in the benchmark; what is random can meet a "
    'threshold by luck. From "exact first" on, the columns rest on the exact return where there is '
    "one."
)
# Where a run is judged for whether it stays at the threshold; elsewhere the second half is.
JUDGED_FROM = {"MountainCar-v0": 5_000}
BANDIT_MEANS = (1.0, 1.5)
BANDIT_EPISODES = 200
BANDIT_SEEDS = 30
BANDIT_SCALES = (1.0, 1e-3, 1e3)


class Bandit(gymnasium.Env):
    """Two arms with normal rewards of standard deviation 1, all times `scale`; one pull ends it."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(len(BANDIT_MEANS))

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def reset(self, **arguments: Any) -> tuple[int, dict[str, Any]]:
        super().reset(seed=arguments.get("seed"))
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        reward = self.scale * self.np_random.normal(BANDIT_MEANS[action], 1.0)
        return 0, float(reward), True, False, {}


def finds_right_arm(scale: float, seed: int) -> bool:
    """Whether the arm that the policy shows in the end is the better one."""
    agent = OptimisticPOWR(Bandit(scale), seed=seed).learn(BANDIT_EPISODES)
    action, _ = agent.predict(0, deterministic=True)
    return int(action) == int(np.argmax(BANDIT_MEANS))


def row(evaluations: pd.DataFrame, threshold: float, seconds: list[float]) -> dict[str, str]:
    """One line of the table by its headings: an environment over all seeds."""
    exact = arrivals.judged_exactly(evaluations)
    first = np.sort(arrival_times(evaluations, threshold, arrivals.FIRST))
    exact_first = arrival_times(exact, threshold, arrivals.FIRST)
    environment = evaluations["environment"].iloc[0]
    start = JUDGED_FROM.get(environment, exact["timestep"].max() // 2)
    late = exact[exact["timestep"] >= start]
    lasting = arrival_times(exact, threshold, arrivals.LASTING)
    return {
        "environment": environment,
        "threshold": f"{threshold:g}",
        "reached": f"{np.isfinite(first).sum()} of {len(first)}",
        "median first": in_words(censored_median(first)),
        "range": f"{in_words(first[0])} to {in_words(first[-1])}",
        "exact first": in_seeds(
            censored_median(exact_first), np.isfinite(exact_first).sum(), len(exact_first)
        ),
        "median lasting": in_words(censored_median(lasting)),
        "judged from": f"{start:,}",
        "mean return": f"{late['mean'].mean():.3f}",
        "lowest seed": f"{late.groupby('seed')['mean'].mean().min():.3f}",
        "below": f"{(late['mean'] < threshold).mean():.1%}",
        "CPU s per run": f"{np.median(seconds):.0f}",
    }


def arrival_times(evaluations: pd.DataFrame, threshold: float, column: str) -> np.ndarray:
    """One time per seed of the deterministic policy, infinite for never."""
    environment = evaluations["environment"].iloc[0]
    table = arrivals.tabulate(evaluations, {environment: [threshold]})
    return arrivals.as_times(table[table["policy"] == "deterministic"][column])


def in_words(time: float) -> str:
    return f"{time:,.0f}" if np.isfinite(time) else "never"


def in_seeds(median: float, arrived: int, seeds: int) -> str:
    """The median, and how many seeds arrive where not all do."""
    missing = "" if arrived == seeds else f" ({arrived} of {seeds})"
    return in_words(median) + missing


def sample_efficiency(study: dict[str, Any]) -> str:
    loaded = aggregate.load_runs(study, SCALE, RESULTS, partial=False)
    rows = []
    for name, evaluations in loaded.evaluations.groupby("environment", sort=False):
        seconds = [
            cpu_seconds(RESULTS / run.path, metadata)
            for run, metadata in loaded.metadata.items()
            if run.environment == name
        ]
        rows.append(row(evaluations, study["environments"][name]["thresholds"][0], seconds))
    return markdown.table([list(rows[0]), *(list(cells.values()) for cells in rows)])


def ablations(table: pd.DataFrame) -> str:
    """Median first arrival, arrivals where some are missing, and late return, by choice undone."""
    environments = list(dict.fromkeys(table["environment"]))
    rows = [("what is undone", *environments)]
    for change, undone in table.groupby("change", sort=False):
        cells = undone.set_index("environment")
        rows.append((change, *(cell(cells.loc[name]) for name in environments)))
    return markdown.table(rows)


def cell(undone: pd.Series) -> str:
    first = in_seeds(undone["median_first_arrival"], undone["n_reached"], undone["seeds"])
    return f"{first}; {undone['late_return']:.3g}"


def bandit() -> str:
    pulls = [(scale, seed) for scale in BANDIT_SCALES for seed in range(BANDIT_SEEDS)]
    with ProcessPoolExecutor(cpu_count()) as pool:
        found = list(pool.map(finds_right_arm, *zip(*pulls, strict=True)))
    right = [scale for (scale, _), is_right in zip(pulls, found, strict=True) if is_right]
    return "\n".join(
        f"- two-armed bandit, rewards times {scale:g}: the right arm in {right.count(scale)} of "
        f"{BANDIT_SEEDS} seeds"
        for scale in BANDIT_SCALES
    )


def main() -> None:
    print(sample_efficiency(config.load("envs.yaml")), NOTE, bandit(), sep="\n\n")
    print(
        "\nEach choice undone alone: median first arrival by the exact return where there is one;"
    )
    print("return in the second half\n")
    print(ablations(read_table(RESULTS / config.ABLATIONS / "ablations.csv")))


if __name__ == "__main__":
    main()
