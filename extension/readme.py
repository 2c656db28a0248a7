"""The tables of results in the extension's README, from its shipped tables.

python -m extension.readme
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pandas as pd
import tasks  # noqa: F401  registers the tasks

from extension.sample_efficiency import ablations, in_words
from powr.tabular import TabularMDP
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
    shown = summary[is_shown & (summary["seeds"] > 0)].drop_duplicates(
        ["environment", "algorithm"], keep="last"
    )
    others = [name for name in OTHERS if name in set(shown["algorithm"])]
    rows = [("task", "OptimisticPOWR (lowest)", *map(algorithm_name, others), "best known")]
    for task, table in shown.groupby("environment", sort=False):
        mean, lowest = table.set_index("algorithm").loc[OWN, ["final_mean", "final_min"]]
        of_others = table.set_index("algorithm")["final_mean"].reindex(others)
        rows.append(
            (
                task,
                f"{mean:.3g} ({lowest:.3g})",
                *("" if pd.isna(value) else f"{value:.3g}" for value in of_others),
                best_known(task),
            )
        )
    return to_markdown(rows)


def best_known(task: str) -> str:
    if task in BY_HAND:
        return f"{BY_HAND[task]:.3g} (rule)"
    mdp = TabularMDP.from_env(gymnasium.make(f"{task}-v0"))
    return f"{mdp.optimal_return():.3g} (optimum)"


def renew(text: str, parts: dict[str, str]) -> str:
    """The README with these parts between their comments."""
    for name, part in parts.items():
        before, begin, rest = text.partition(BEGIN.format(name))
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise ValueError(f"{README}: lacks {BEGIN.format(name).strip()} and {END.strip()}")
        text = f"{before}{begin}\n{part}\n\n{end}{after}"
    return text


def main() -> None:
    results = FOLDER / "results"
    parts = {
        "results": compared(read_table(results / "sample-efficiency" / "ranking.csv")),
        "operations": operations(read_table(results / "operations" / "summary.csv")),
        "ablations": ablations(read_table(results / "ablations" / "ablations.csv")),
    }
    text = renew(README.read_text(encoding="utf-8"), parts)
    write_together({README: text})


if __name__ == "__main__":
    main()
