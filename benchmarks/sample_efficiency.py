"""POWR as it comes, on eight environments and a bandit, one table: make sample-efficiency.

Runs the scale `sample-efficiency` of envs.yaml by the suite's protocol. "First" is the first
evaluation whose 20 episodes reach the threshold. What comes after it is judged by the exact return
where the environment has a transition table, since 20 episodes on ice fall below it by chance.
"""

from __future__ import annotations

import io
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pandas as pd

from powr import POWR
from suite import config
from suite.results import arrivals
from suite.results.cost import cpu_seconds
from suite.results.statistics import censored_median
from suite.training import provenance
from suite.training.run import run

SCALE = "sample-efficiency"
HEADINGS = (
    *("environment", "threshold", "reached", "median first", "range", "median lasting"),
    *("return in 2nd half", "below in 2nd half", "CPU s per run"),
)
BANDIT_MEANS = (1.0, 1.5)
BANDIT_EPISODES = 200
BANDIT_SEEDS = 30
BANDIT_SCALES = (1.0, 1e-3, 1e3)


class Outcome(NamedTuple):
    """The evaluations of one run, and the CPU seconds it took."""

    evaluations: pd.DataFrame
    seconds: float


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
    agent = POWR(Bandit(scale), seed=seed).learn(BANDIT_EPISODES)
    action, _ = agent.predict(0, deterministic=True)
    return int(action) == int(np.argmax(BANDIT_MEANS))


def train(task: config.Run, study: dict[str, Any]) -> Outcome:
    settings = config.resolve(study, SCALE, task.environment, task.algorithm)
    csv, document, _ = run(settings, task.seed, f"{task.environment}, seed {task.seed}")
    table = pd.read_csv(io.StringIO(csv)).assign(
        environment=task.environment, algorithm=task.algorithm, seed=task.seed
    )
    return Outcome(table, cpu_seconds(Path(task.path), document))


def row(threshold: float, outcomes: list[Outcome]) -> tuple[str, ...]:
    """One line of the printed table: an environment over all seeds."""
    played = pd.concat(outcome.evaluations for outcome in outcomes)
    exact = arrivals.judged_exactly(played)
    first = np.sort(arrival_times(played, threshold, arrivals.FIRST))
    late = arrivals.second_half(exact)["mean"]
    return (
        played["environment"].iloc[0],
        f"{threshold:g}",
        f"{np.isfinite(first).sum()} of {len(first)}",
        in_words(censored_median(first)),
        f"{in_words(first[0])} to {in_words(first[-1])}",
        in_words(censored_median(arrival_times(exact, threshold, arrivals.LASTING))),
        f"{late.mean():.3f}",
        f"{(late < threshold).mean():.1%}",
        f"{np.median([outcome.seconds for outcome in outcomes]):.0f}",
    )


def arrival_times(evaluations: pd.DataFrame, threshold: float, column: str) -> np.ndarray:
    """One time per seed of the deterministic policy, infinite for never."""
    environment = evaluations["environment"].iloc[0]
    table = arrivals.tabulate(evaluations, {environment: [threshold]})
    return arrivals.as_times(table[table["policy"] == "deterministic"][column])


def in_words(time: float) -> str:
    return f"{time:,.0f}" if np.isfinite(time) else "never"


def print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)))


def main() -> None:
    study = config.load(provenance.ROOT / "envs.yaml")
    tasks = config.runs(study, SCALE)
    pulls = [(scale, seed) for scale in BANDIT_SCALES for seed in range(BANDIT_SEEDS)]
    by_environment: dict[str, list[Outcome]] = {}
    with ProcessPoolExecutor(cpu_count()) as pool:
        outcomes = pool.map(train, tasks, [study] * len(tasks))
        found = pool.map(finds_right_arm, *zip(*pulls, strict=True))
        for task, outcome in zip(tasks, outcomes, strict=True):
            by_environment.setdefault(task.environment, []).append(outcome)
        right = [scale for (scale, _), is_right in zip(pulls, found, strict=True) if is_right]
    thresholds = {name: study["environments"][name]["thresholds"][0] for name in by_environment}
    print_table([HEADINGS, *(row(thresholds[name], by_environment[name]) for name in thresholds)])
    for scale in BANDIT_SCALES:
        print(
            f"two-armed bandit, rewards times {scale:g}: "
            f"the right arm in {right.count(scale)} of {BANDIT_SEEDS} seeds"
        )


if __name__ == "__main__":
    main()
