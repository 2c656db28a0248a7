"""summary.csv and summary.md: what the seeds of each algorithm say together, and where from.

One row per environment, algorithm, policy and threshold. The policy is the deterministic one, and
where it was recorded also the one that samples its actions, which the paper's authors evaluate.
origins.csv has the distinct environments of the runs: commit, Python, machine and packages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from suite.config import Combination, Run, Study, algorithm_name
from suite.config.models import Environment
from suite.results import arrivals, statistics
from suite.results.run_file import Provenance
from suite.results.tables import to_markdown
from suite.training import environments
from suite.training.evaluation import planned_grid

# A percentile bootstrap stays within the range of the seeds, and the range of n seeds holds their
# median with probability 1 - 2 ** (1 - n): 94% for five.
FEWEST_SEEDS_FOR_INTERVAL = 6
ORIGIN = ["commit", "Python", "platform", "processor"]
LEGEND = (
    "First arrival is the first evaluation whose mean return is at or above the threshold. Lasting "
    "arrival is the first one from which on at most one evaluation in twenty falls below it; it "
    "says little if it is among the last of its run. A run that never arrives counts as later than "
    "all others (`>` its timesteps); none is dropped. The interval of a median is that of the "
    "order statistics that cover it in 95% of cases or more; with seven seeds it reaches from the "
    f"first run to the last and covers it in {1 - 2**-6:.1%}. IQM is the "
    "interquartile mean over seeds with its 95% percentile bootstrap interval, which holds the "
    "truth in 91% of cases with seven seeds of a normal distribution. No interval is given for "
    f"fewer than {FEWEST_SEEDS_FOR_INTERVAL} seeds, whose whole range misses the median in more "
    "than 5% of cases. The exact return is that of the final policy by dynamic programming."
)
OVERVIEW_TITLE = "Runs that met the threshold, and the median of all runs' timesteps to it:"


def summarise(
    study: Study,
    combinations: Sequence[Combination],
    evaluations: pd.DataFrame,
    reached: pd.DataFrame,
) -> pd.DataFrame:
    """The rows of summary.csv, also where no run is there; `reached` is runs.csv."""
    seeds = {each.environment: each.seeds for each in combinations}
    bounds = {name: exact_bounds(study.environments[name], n) for name, n in seeds.items()}
    rows = []
    for each in combinations:
        environment, algorithm = each.environment, each.algorithm
        block = study.algorithms[algorithm]
        runs = evaluations.query("environment == @environment and algorithm == @algorithm")
        last = runs[runs["timestep"] == runs["timestep"].max()]
        for policy, (played, exact) in arrivals.POLICIES.items():
            if policy != "deterministic" and not runs[played].notna().any():
                continue
            returns = bounds[environment]
            if len(last):
                returns = _range("final", last[played]) | _interquartile(last[played]) | returns
            if last[exact].notna().any():
                returns = returns | _range("exact", last[exact])
            for threshold in study.environments[environment].thresholds:
                times = arrivals.select(reached, environment, algorithm, threshold, policy)
                rows.append(
                    {
                        "environment": environment,
                        "algorithm": algorithm,
                        "kind": block.kind,
                        "source": block.source.kind,
                        "policy": policy,
                        "seeds": len(last),
                        "seeds_planned": each.seeds,
                        "timesteps": planned_grid(each.settings)[-1],
                        "threshold": threshold,
                        **(_times(times) if len(times) else {"n_reached": 0, "n_lasting": 0}),
                        **returns,
                    }
                )
    return pd.DataFrame(rows)


def exact_bounds(environment: Environment, seeds: int) -> dict[str, float]:
    """Exact returns of the uniform policy and the optimum; NaN where there is no transition table.

    With fixed starts, which differ between seeds, their mean over seeds.
    """
    bounds = []
    for seed in range(seeds) if environment.start == "fixed" else [0]:
        mdp = environments.tabular(environments.make(environment.resolve(), seed))
        if mdp is None:
            return {"uniform": math.nan, "optimum": math.nan}
        uniform = np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
        bounds.append((mdp.expected_return(uniform), mdp.optimal_return()))
    return dict(zip(("uniform", "optimum"), np.mean(bounds, axis=0).tolist(), strict=True))


def _times(runs: pd.DataFrame) -> dict[str, float]:
    first, lasting = (arrivals.as_times(runs[name]) for name in (arrivals.FIRST, arrivals.LASTING))
    return {
        "n_reached": int(np.isfinite(first).sum()),
        **_median("timesteps_to_threshold", first),
        "earliest": arrivals.as_cell(min(first)),
        "latest": arrivals.as_cell(max(first)),
        "n_lasting": int(np.isfinite(lasting).sum()),
        **_median("timesteps_to_lasting", lasting),
    }


def _median(name: str, times: np.ndarray) -> dict[str, float]:
    # By the order statistics, NaN for too few seeds.
    interval = stats.quantile_test(times, p=0.5).confidence_interval()
    return {
        name: arrivals.median_cell(times),
        f"{name}_low": arrivals.as_cell(interval.low),
        f"{name}_high": arrivals.as_cell(interval.high),
    }


def _range(name: str, values: pd.Series) -> dict[str, float]:
    return {f"{name}_{statistic}": values.agg(statistic) for statistic in ("mean", "min", "max")}


def _interquartile(values: pd.Series) -> dict[str, float]:
    enough = len(values) >= FEWEST_SEEDS_FOR_INTERVAL
    mean = partial(stats.trim_mean, proportiontocut=0.25)
    interval = statistics.bootstrap_interval(mean, values) if enough else statistics.NO_INTERVAL
    return {
        "final_iqm": float(mean(values)),
        "final_iqm_low": interval.low,
        "final_iqm_high": interval.high,
    }


def find_origins(origins: Sequence[Provenance]) -> pd.DataFrame:
    """One row per environment that runs came from.

    Runs of one environment load different packages of it: each has all versions that were loaded.
    """
    runs = pd.DataFrame(
        [(_commit(run), run.python, run.platform, run.cpu, run.packages) for run in origins],
        columns=[*ORIGIN, "packages"],
    )
    rows = []
    for origin, group in runs.groupby(ORIGIN):
        versions = pd.DataFrame(group["packages"].tolist())
        packages = [
            f"{name} {' and '.join(sorted(versions[name].dropna().unique()))}"
            for name in sorted(versions, key=str.lower)
        ]
        rows.append((len(group), *origin, ", ".join(packages)))
    return pd.DataFrame(rows, columns=["runs", *ORIGIN, "packages"])


def _commit(origin: Provenance) -> str:
    if origin.git is None:
        return origin.git_fault or "outside a repository"
    return origin.git.commit[:12] + ("" if origin.git.clean else " with local changes")


# -- summary.md -----------------------------------------------------------------------------------


def render(summary: pd.DataFrame, scale: str, missing: Sequence[Run], origins: pd.DataFrame) -> str:
    """The summary as Markdown, ending with the environments that the results came from."""
    planned = summary[summary["policy"] == "deterministic"]
    planned = planned.drop_duplicates(["environment", "algorithm"])
    runs, due = planned["seeds"].sum(), planned["seeds_planned"].sum()
    again = f" `snakemake --cores N --config scale={scale}` trains the others." if missing else ""
    parts = [f"# Results at the scale {scale}", f"{runs} of {due} runs.{again}"]
    parts += [OVERVIEW_TITLE, to_markdown(overview(summary))]
    if missing:
        listed = "\n".join(f"- `{run.path}`" for run in missing)
        parts.append(f"<details><summary>Missing runs</summary>\n\n{listed}\n\n</details>")
    for environment, rows in summary.groupby("environment", sort=False):
        parts += [f"## {environment}", *map(to_markdown, (times(rows), returns(rows)))]
        parts += filter(None, [bounds_text(rows)])
    shown = origins.drop(columns="packages").astype(str)
    table = [shown.columns, *shown.itertuples(index=False)]
    parts += ["## How to read it", LEGEND]
    parts += ["## Where the results came from", to_markdown(table), "Packages: origins.csv."]
    return "\n\n".join(parts) + "\n"


def overview(summary: pd.DataFrame) -> list[tuple[str, ...]]:
    """The first threshold of every environment side by side, the head first."""
    columns = {}
    for environment, rows in summary.groupby("environment", sort=False):
        first = rows[rows["threshold"] == rows["threshold"].iloc[0]].to_dict("records")
        title = f"{environment}, return {first[0]['threshold']:g}"
        columns[title] = {algorithm_text(row): _arrivals(row) for row in first}
    algorithms = dict.fromkeys(name for cells in columns.values() for name in cells)
    body = [(name, *(cells.get(name, "") for cells in columns.values())) for name in algorithms]
    return [("algorithm", *columns), *body]


def _arrivals(row: Mapping[str, Any]) -> str:
    if not row["seeds"]:
        return "no run"
    median = f": {_median_text(row, 'timesteps_to_threshold')}" if row["n_reached"] else ""
    return f"{row['n_reached']} of {row['seeds']}{median}"


def times(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Timesteps to threshold of one environment as a table to read, its head first."""
    head = ("algorithm", "threshold", "reached", "median of first arrivals", "earliest .. latest")
    table: list[tuple[str, ...]] = [(*head, "reached and stayed", "median of lasting arrivals")]
    for row in rows.to_dict("records"):
        cells = ["no run"] * 5
        if row["seeds"]:
            cells = [
                f"{row['n_reached']} of {row['seeds']}",
                _median_text(row, "timesteps_to_threshold") if row["n_reached"] else "never",
                f"{_time(row, row['earliest'])} .. {_time(row, row['latest'])}"
                if row["n_reached"]
                else f"never within {row['timesteps']:,}",
                f"{row['n_lasting']} of {row['seeds']}",
                _median_text(row, "timesteps_to_lasting") if row["n_lasting"] else "never",
            ]
        table.append((algorithm_text(row), f"{row['threshold']:g}", *cells))
    return table


def _median_text(row: Mapping[str, Any], name: str) -> str:
    return _estimate(row, (name, f"{name}_low", f"{name}_high"), lambda time: _time(row, time))


def _time(row: Mapping[str, Any], timestep: float) -> str:
    return f"> {row['timesteps']:,}" if math.isnan(timestep) else f"{timestep:,.0f}"


def returns(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Returns of one environment as a table to read, its head first."""
    columns = {
        "final return [min, max]": ("final_mean", "final_min", "final_max"),
        "IQM": ("final_iqm", "final_iqm_low", "final_iqm_high"),
    }
    if not math.isnan(rows.iloc[0]["optimum"]):
        columns["exact return [min, max]"] = ("exact_mean", "exact_min", "exact_max")
    table = [("algorithm", "timesteps", *columns)]
    for row in rows.drop_duplicates(["algorithm", "policy"]).to_dict("records"):
        absent = "none" if row["seeds"] else "no run"
        estimates = (
            absent if math.isnan(row.get(names[0], math.nan)) else _estimate(row, names, _number)
            for names in columns.values()
        )
        table.append((algorithm_text(row), f"{row['timesteps']:,}", *estimates))
    return table


def bounds_text(rows: pd.DataFrame) -> str:
    """Between what the exact returns of an environment lie, if that is known."""
    uniform, optimum = rows.iloc[0][["uniform", "optimum"]]
    if math.isnan(optimum):
        return ""
    return (
        f"Exact return of the optimum: {_number(optimum)}; "
        f"of the uniform policy: {_number(uniform)}."
    )


def _estimate(
    row: Mapping[str, Any], columns: tuple[str, str, str], text: Callable[[float], str]
) -> str:
    """A value with its interval, if there is one."""
    value, low, high = (row[column] for column in columns)
    return text(value) + ("" if math.isnan(low) else f" [{text(low)}, {text(high)}]")


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # adding zero turns -0.00 into 0.00


def algorithm_text(row: Mapping[str, Any]) -> str:
    """The name of a row's algorithm, and its policy if that is sampled."""
    sampled = " (sampled)" if row["policy"] == "sampled" else ""
    return algorithm_name(row["algorithm"]) + sampled
