"""OptimisticPOWR and other algorithms in one table, and in one picture.

Reads the tables of the scale `sample-efficiency` of study.yaml, those of the scales that nothing
was developed on, as far as they are there, and ablations.csv: what each choice adds. "First" is the
first evaluation whose 20 episodes reach the threshold. What comes after it is judged by the exact
return where the environment has a transition table, since 20 episodes on ice fall below it by
chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
from optimistic_powr import OptimisticPOWR

from extension.ablations.tables import judged_exactly
from suite import config
from suite.command import write_together
from suite.config import Combination, Study, algorithm_name
from suite.plots import ranking, render
from suite.results import arrivals
from suite.results.tables import read_results, read_table, to_markdown
from suite.training.evaluation import planned_grid

SCALE = "sample-efficiency"
# Further scales, each with what its table is about; one without any runs is left out.
MORE = {
    "unseen": "Environments that nothing was developed on",
    "operations": "Business decisions, which nothing was developed on; DQN and PPO with defaults",
    "lander": "LunarLander-v3, which nothing was developed on either",
    "boxes": "A goal, and noise, in boxes that the extension was developed on",
}
STUDY = Path("extension/study.yaml")
NOTE = (
    "Arrived: seeds that reach the threshold. First and lasting: medians over seeds; lasting is "
    "the first evaluation from which on at most one in twenty is below the threshold. First "
    "arrivals are by the mean of 20 episodes, as in the benchmark; what is random can reach a "
    "threshold by luck. The columns from lasting on rest on the exact return where there is one; "
    "those of random play are of the sampled policy. Late: in the second half of training, on "
    "MountainCar-v0 from 5,000 timesteps on. CPU: of training, without evaluations."
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


def row(
    planned: Combination, evaluations: pd.DataFrame, threshold: float, seconds: list[float]
) -> dict[str, str]:
    """One line of the table by its headings: an algorithm on an environment, over all seeds."""
    environment, budget = planned.environment, planned_grid(planned.settings)[-1]
    policy = "sampled" if planned.algorithm == "random-play" else "deterministic"
    exact = judged_exactly(evaluations)
    first = np.sort(arrival_times(evaluations, threshold, policy, arrivals.FIRST))
    lasting = arrival_times(exact, threshold, policy, arrivals.LASTING)
    late = exact[exact["timestep"] >= JUDGED_FROM.get(environment, budget / 2)]
    returns = late[arrivals.POLICIES[policy][0]]
    return {
        "environment": environment,
        "threshold": f"{threshold:g}",
        "algorithm": algorithm_name(planned.algorithm),
        "timesteps": f"{budget:,}",
        "arrived": f"{np.isfinite(first).sum()} of {len(first)}",
        "first": in_words(np.median(first)),
        "range": f"{in_words(first[0])} to {in_words(first[-1])}",
        "lasting": in_words(np.median(lasting)),
        "late mean": f"{returns.mean():.3f}",
        "lowest seed": f"{returns.groupby(late['seed']).mean().min():.3f}",
        "late below": f"{(returns < threshold).mean():.1%}",
        "CPU s per 1,000": f"{1000 * np.median(seconds) / budget:.2g}",
    }


def arrival_times(
    evaluations: pd.DataFrame, threshold: float, policy: str, column: str
) -> np.ndarray:
    """One time per seed, infinite for never."""
    environment = evaluations["environment"].iloc[0]
    table = arrivals.tabulate(evaluations, {environment: [threshold]})
    return arrivals.as_times(table[table["policy"] == policy][column])


def in_words(time: float) -> str:
    return f"{time:,.0f}" if np.isfinite(time) else "never"


def compared(study: Study, scale: str) -> str:
    """The table of a scale's finished runs, and how many are missing."""
    results = read_results(study, scale, study.results / scale)
    key = ["environment", "algorithm"]
    runs, training = results.evaluations.groupby(key), results.training.groupby(key)
    rows = []
    for planned in study.combinations(scale):
        pair = planned.environment, planned.algorithm
        if pair in runs.groups:
            seconds = training.get_group(pair)["training_seconds"].tolist()
            threshold = study.environments[planned.environment].thresholds[0]
            rows.append(row(planned, runs.get_group(pair), threshold, seconds))
    table = to_markdown([list(rows[0]), *(list(cells.values()) for cells in rows)])
    missing = f"\n\n{len(results.missing)} runs are missing." if results.missing else ""
    return table + missing


def has_tables(study: Study, scale: str) -> bool:
    return (study.results / scale / "evaluations.csv").exists()


def ablations(table: pd.DataFrame) -> str:
    """Median first arrival, arrivals where some are missing, and late return, by choice undone."""
    environments = list(dict.fromkeys(table["environment"]))
    rows = [("what is undone", *environments)]
    for change, undone in table.groupby("change", sort=False):
        cells = undone.set_index("environment")
        rows.append((change, *(cell(cells.loc[name]) for name in environments)))
    return to_markdown(rows)


def cell(undone: pd.Series) -> str:
    arrived, seeds = undone["n_reached"], undone["seeds"]
    missing = "" if arrived == seeds else f" ({arrived} of {seeds})"
    return f"{in_words(undone['median_first_arrival'])}{missing}; {undone['late_return']:.3g}"


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


def page(study: Study) -> Iterator[str]:
    """The parts of the page, from the table of eight environments to the ablations."""
    yield "# OptimisticPOWR beside other algorithms"
    yield compared(study, SCALE)
    yield NOTE
    for scale, title in MORE.items():
        if has_tables(study, scale):
            yield f"{title}:"
            yield compared(study, scale)
    yield bandit()
    yield (
        "Each choice undone alone: median first arrival by the exact return where there is one; "
        "return in the second half"
    )
    yield ablations(read_table(study.results / config.ABLATIONS / "ablations.csv"))


def main() -> None:
    study = config.load(STUDY)
    table = read_table(study.results / SCALE / "ranking.csv")
    draw = partial(ranking.draw, columns=2)
    page_file = study.results / SCALE / "table.md"
    figures = render.files(draw, [table], study.folder / "figures" / "sample_efficiency")
    write_together({**figures, page_file: "\n\n".join(page(study)) + "\n"})


if __name__ == "__main__":
    main()
