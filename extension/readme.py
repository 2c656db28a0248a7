"""The tables of results in the extension's README, from its shipped tables.

python -m extension.readme                writes all of them into the README
python -m extension.readme operations     prints one
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import gymnasium
import pandas as pd

from extension.sample_efficiency import STUDY, in_words
from powr.tabular import TabularMDP
from suite import config
from suite.command import write_together
from suite.config import algorithm_name
from suite.results.tables import read_table, to_markdown

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
BEGIN = "<!-- {}: by `python -m extension.readme` -->\n"
END = "<!-- end -->\n"
OWN, PAPERS = "optimistic-powr", "powr-default"
OTHERS = ("dqn", "ppo", "dyna-q-textbook", "random-play")
# Mean returns of rules made by hand, in tests/test_operations_boxes.py; elsewhere optima are known.
BY_HAND = {"PutOption": 0.167, "Offers": 0.9, "Thermostat": -8.8, "StoppingCart": -19.7}

# What three seeds show of a choice undone: this ratio of timesteps, this share of the return.
_VISIBLE_RATIO, _VISIBLE_SHARE = 2.0, 0.05


def compared(ranking: pd.DataFrame) -> str:
    """Median timesteps to threshold, first and lasting, beside the best of the others."""
    rows = [("environment, threshold", "OptimisticPOWR", "POWR, default settings", "best other")]
    for environment, table in ranking[ranking["policy"] == "deterministic"].groupby(
        "environment", sort=False
    ):
        by_name = table.set_index("algorithm")
        others = by_name.drop([OWN, PAPERS])
        best = others["median"].fillna(float("inf")).idxmin()
        rows.append(
            (
                f"{environment}, {by_name.loc[OWN, 'threshold']:g}",
                times(by_name.loc[OWN]),
                times(by_name.loc[PAPERS]),
                f"{times(by_name.loc[best])} ({algorithm_name(best)})",
            )
        )
    return to_markdown(rows)


def times(row: pd.Series) -> str:
    return f"{in_words(row['median'])} / {in_words(row['median_lasting'])}"


def operations(summary: pd.DataFrame) -> str:
    """Mean return at the end of training, of OptimisticPOWR with its lowest seed."""
    is_shown = (summary["policy"] == "deterministic") | (summary["algorithm"] == "random-play")
    shown = summary[is_shown].drop_duplicates(["environment", "algorithm"], keep="last")
    planned, n_finished = shown["seeds_planned"].sum(), shown["seeds"].sum()
    missing = f"\n\n{n_finished} of {planned} runs are finished." if n_finished < planned else ""
    shown = shown[shown["seeds"] > 0]
    others = [name for name in OTHERS if name in set(shown["algorithm"])]
    rows = [("task", "OptimisticPOWR (lowest)", *map(algorithm_name, others), "best known")]
    for task, table in shown.groupby("environment", sort=False):
        by_name = table.set_index("algorithm").reindex([OWN, *others])
        mean, lowest = by_name.loc[OWN, ["final_mean", "final_min"]]
        of_others = by_name.loc[others, "final_mean"]
        rows.append(
            (
                task,
                f"{short(mean)} ({short(lowest)})",
                *("" if pd.isna(value) else short(value) for value in of_others),
                best_known(task),
            )
        )
    return to_markdown(rows) + missing


def short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def best_known(task: str) -> str:
    if task in BY_HAND:
        return f"{short(BY_HAND[task])} (rule)"
    environment = config.load(STUDY).environments[task]
    mdp = TabularMDP.from_env(gymnasium.make(environment.id, **environment.kwargs))
    return f"{short(mdp.optimal_return())} (optimum)"


def undone(table: pd.DataFrame) -> str:
    """For each choice undone, on how many environments that makes a visible difference."""
    rows = [("what is undone", "later", "lower return", "earlier", "higher return")]
    groups = table.set_index("environment").groupby("change", sort=False)
    (_, default), *others = groups
    arrival, margin = arrivals(default), _VISIBLE_SHARE * default["late_return"].abs()
    for change, other in others:
        ratio, gain = arrivals(other) / arrival, other["late_return"] - default["late_return"]
        counts = (
            (ratio >= _VISIBLE_RATIO).sum(),
            (gain < -margin).sum(),
            (ratio <= 1.0 / _VISIBLE_RATIO).sum(),
            (gain > margin).sum(),
        )
        rows.append((str(change), *map(str, counts)))
    return to_markdown(rows)


def arrivals(table: pd.DataFrame) -> pd.Series:
    """Median timesteps to threshold, infinite for never."""
    return table["median_first_arrival"].fillna(float("inf"))


def renew(text: str, parts: dict[str, str]) -> str:
    """The README with these parts between their comments."""
    for name, part in parts.items():
        before, begin, rest = text.partition(BEGIN.format(name))
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise ValueError(f"{README}: lacks {BEGIN.format(name).strip()} and {END.strip()}")
        text = f"{before}{begin}\n{part}\n\n{end}{after}"
    return text


# Name of a part, its table, and the function that writes it.
PARTS: dict[str, tuple[str, Callable[[pd.DataFrame], str]]] = {
    "results": ("sample-efficiency/ranking.csv", compared),
    "operations": ("operations/summary.csv", operations),
    "ablations": ("ablations/ablations.csv", undone),
}


def part(name: str) -> str:
    config.load(STUDY)  # the names of its algorithms
    path, write = PARTS[name]
    return write(read_table(FOLDER / "results" / path))


def main(names: Sequence[str]) -> None:
    if names:
        print("\n\n".join(map(part, names)))
    else:
        text = renew(README.read_text(encoding="utf-8"), {name: part(name) for name in PARTS})
        write_together({README: text})


if __name__ == "__main__":
    main(sys.argv[1:])
