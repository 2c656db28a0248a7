"""The verdict on every claim in every universe, and when POWR arrives there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite import config
from suite.claims import ledger
from suite.claims.rules import RULES
from suite.claims.verdicts import NOT_TESTED, Data, Parameters
from suite.config import Run, Variant
from suite.results import aggregate, arrivals, statistics
from suite.results.run_file import read_run_file
from suite.training.evaluation import planned_grid

KEY = ["environment", "universe", "policy", "against"]
SETTING, CLAIM = "setting.", "claim."  # how the columns of settings and of verdicts begin
ALL = "all"  # stands for the environment where a claim is about several of them


class Question(NamedTuple):
    """A claim against one set of baselines."""

    id: str
    claim: str
    rule: str
    against: str
    parameters: Parameters
    is_quoted: bool  # whether the paper says it

    @property
    def policy(self) -> str:
        """Which policy of POWR it is about."""
        column = str(getattr(self.parameters, "column", ""))
        default = "sampled" if column.startswith("sampled") else "deterministic"
        return getattr(self.parameters, "policy", default)

    def environments(self) -> list[str]:
        return list(dict.fromkeys(environment for environment, _ in self.parameters.needed()))

    def on(self, environment: str) -> Question:
        """The same question about one of its environments."""
        if environment == ALL or len(self.environments()) == 1:
            return self
        known: Any = self.parameters
        update: dict[str, Any] = {}
        if hasattr(known, "environments"):
            update["environments"] = [environment]
        if hasattr(known, "thresholds"):
            update["thresholds"] = {environment: known.thresholds[environment]}
        return self._replace(parameters=known.model_copy(update=update))


class Multiverse:
    """The runs of all universes, beside those of the baselines at the scale of the claims."""

    def __init__(self, study: Mapping[str, Any], claims: Mapping[str, Any], results: Path) -> None:
        self.study, self.level = study, claims["level"]
        self.algorithm = study["multiverse"]["algorithm"]
        self.universes = config.universes(study)
        scale = claims["scale"]
        loaded = aggregate.load_runs(study, scale, results, partial=True)
        self.baselines = ledger.gather(study, scale, loaded, results / scale)
        self.evaluations = {
            run: _read(results, variant, run)
            for variant in self.universes
            for run in variant.runs
            if (results / run.path).exists()
        }
        self.questions = [
            Question(
                claim["id"],
                claim["claim"],
                claim["rule"],
                against,
                parameters,
                bool(claim.get("quote")),
            )
            for claim, against, parameters in ledger.questions(claims)
            if any(name == self.algorithm for _, name in parameters.needed())
        ]

    def runs_planned(self) -> int:
        return sum(len(variant.runs) for variant in self.universes)

    def on(self, environment: str) -> list[Variant]:
        return [variant for variant in self.universes if variant.environment == environment]

    def open_settings(self) -> list[str]:
        scope = self.study["multiverse"]
        blocks = (scope["settings"], *scope.get("environments", {}).values())
        choices = {key: values for block in blocks for key, values in block.items()}
        return [key for key, values in choices.items() if len(values) > 1]

    def is_main(self, variant: Variant) -> bool:
        """Whether its settings are those with which the scale of the claims trains POWR."""
        block = self.study["algorithms"][self.algorithm]
        own = config.settings_on(block, variant.environment)
        both = set(self.open_settings()) & set(variant.varied)
        return all(own.get(key) == variant.varied[key] for key in both)

    def together(self, environments: Sequence[str]) -> list[list[Variant]]:
        """Universes of several environments at once, which agree in the settings they share."""
        shared = list(self.study["multiverse"]["settings"])
        return [
            list(variants)
            for variants in itertools.product(*map(self.on, environments))
            if all(
                v.varied.get(key) == variants[0].varied.get(key) for v in variants for key in shared
            )
        ]

    def data(self, variants: Sequence[Variant]) -> Data:
        """What the rules see: the runs of these universes in the place of POWR's own."""
        names = [variant.environment for variant in variants]
        own = [self.evaluations[r] for v in variants for r in v.runs if r in self.evaluations]
        thresholds_of = {name: self.study["environments"][name]["thresholds"] for name in names}
        known = self.baselines

        def replaced(table: pd.DataFrame, by: Sequence[pd.DataFrame]) -> pd.DataFrame:
            others = table["environment"].isin(names) & (table["algorithm"] != self.algorithm)
            return pd.concat([table[others], *by], ignore_index=True)

        arrived = [arrivals.tabulate(pd.concat(own), thresholds_of)] if own else []
        budgets = {(v.environment, self.algorithm): v.resolved["timesteps"] for v in variants}
        return known._replace(
            evaluations=replaced(known.evaluations, own),
            arrivals=replaced(known.arrivals, arrived),
            budgets={**known.budgets, **budgets},
        )

    def verdict(self, question: Question, data: Data) -> str:
        if any(pair not in data.budgets for pair in question.parameters.needed()):
            return NOT_TESTED
        return RULES[question.rule](data, question.parameters, self.level).verdict

    def best_baseline(
        self, data: Data, environment: str, policy: str, against: str
    ) -> tuple[str, float]:
        """Of the algorithms that claims compare POWR with, the one with the earliest median."""
        names = dict.fromkeys(
            name
            for question in self.questions
            for place, name in question.parameters.needed()
            if (question.against, place) == (against, environment) and name != self.algorithm
        )
        threshold = self.study["environments"][environment]["thresholds"][0]
        times = {n: data.times(environment, n, threshold, policy, "first") for n in names}
        medians = {name: statistics.censored_median(t) for name, t in times.items() if len(t)}
        best = min(medians, key=lambda name: medians[name], default="")
        median = medians.get(best, np.inf)
        return (best, median) if np.isfinite(median) else ("", median)


def _read(results: Path, variant: Variant, run: Run) -> pd.DataFrame:
    settings = variant.resolved
    table, _ = read_run_file(
        results, run, planned_grid(settings), settings["evaluation"]["episodes"]
    )
    return table.assign(environment=run.environment, algorithm=run.algorithm, seed=run.seed)


def value_text(value: Any) -> str:
    """A setting's value in a table."""
    if isinstance(value, dict):
        name, *arguments = value.values()
        listed = ", ".join(f"{x:.3g}" for each in arguments for x in np.atleast_1d(each))
        return f"{name} ({listed})"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}"


def tabulate(multiverse: Multiverse) -> pd.DataFrame:
    """One row per universe, policy and set of baselines; a claim that is about others is empty."""
    table = pd.DataFrame(_rows(multiverse))
    settings, verdicts = (
        [name for name in table if name.startswith(prefix)] for prefix in (SETTING, CLAIM)
    )
    others = [name for name in table if name not in (*KEY, *settings, *verdicts)]
    return table[[*KEY, *settings, *others, *verdicts]]


def _rows(multiverse: Multiverse) -> Iterator[dict[str, Any]]:
    for variant in multiverse.universes:
        environment, data = variant.environment, multiverse.data([variant])
        asked: dict[tuple[str, str], list[Question]] = {}
        for question in multiverse.questions:
            if environment in question.environments():
                asked.setdefault((question.policy, question.against), []).append(question)
        for (policy, against), questions in asked.items():
            threshold = multiverse.study["environments"][environment]["thresholds"][0]
            best, best_median = multiverse.best_baseline(data, environment, policy, against)
            yield {
                "environment": environment,
                "universe": variant.runs[0].digest,
                "policy": policy,
                "against": against,
                **{SETTING + key: value_text(value) for key, value in variant.varied.items()},
                "main": multiverse.is_main(variant),
                "timesteps": variant.resolved["timesteps"],
                "threshold": threshold,
                "runs": sum(run in multiverse.evaluations for run in variant.runs),
                "runs_planned": len(variant.runs),
                **_arrived(data.times(environment, variant.algorithm, threshold, policy, "first")),
                "best_baseline": best,
                "best_baseline_median": arrivals.as_cell(best_median),
                **{
                    CLAIM + question.id: multiverse.verdict(question.on(environment), data)
                    for question in questions
                },
            }


def _arrived(times: np.ndarray) -> dict[str, Any]:
    finite = np.sort(times[np.isfinite(times)])
    interval = statistics.median_interval(times) if len(times) else statistics.NO_INTERVAL
    return {
        "arrived": len(finite),
        "median": arrivals.median_cell(times) if len(times) else np.nan,
        "median_low": arrivals.as_cell(interval.low),
        "median_high": arrivals.as_cell(interval.high),
        "first_arrivals": " ".join(f"{time:.0f}" for time in finite),
    }
