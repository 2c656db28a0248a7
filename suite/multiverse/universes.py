"""universes.csv: when POWR arrives in every universe, and the verdict on every claim there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from suite import SuiteError, config
from suite.claims import ledger
from suite.claims.rules import RULES
from suite.claims.verdicts import Data
from suite.config import Combination, Study
from suite.results import arrivals, statistics
from suite.results.tables import read_results

KEY = ["environment", "policy", "against"]
SETTING, CLAIM = "setting.", "claim."  # how the columns of settings and of verdicts begin


class Question(NamedTuple):
    """A claim on POWR's runs, against one set of baselines."""

    claim: Mapping[str, Any]
    against: str
    parameters: Any  # those of the claim's rule

    def environments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(environment for environment, _ in self.parameters.needed()))

    def on(self, environment: str) -> Question:
        """The same question about one of its environments."""
        if len(self.environments()) == 1:
            return self
        thresholds = {environment: self.parameters.thresholds[environment]}
        own = self.parameters.model_copy(update={"thresholds": thresholds})
        return self._replace(parameters=own)


class Multiverse:
    """The runs of all universes, beside those of the baselines at the scale of the claims."""

    def __init__(self, study: Study, claims: Mapping[str, Any], results: Path) -> None:
        if not study.multiverse:
            raise SuiteError(f"{study.path}: has no block multiverse: add one")
        self.study, self.level, scale = study, claims["level"], claims["scale"]
        self.scope = study.multiverse
        self.algorithm = self.scope.algorithm
        self.universes = self.scope.combinations()
        tables = read_results(study, scale, results / scale)
        optima = ledger.read_optima(results / scale)
        self.baselines = ledger.gather(study, scale, tables, optima)
        self.tables = read_results(study, config.MULTIVERSE, results / config.MULTIVERSE)
        key = ["environment", "combination"]
        self.evaluations = dict(list(self.tables.evaluations.groupby(key)))
        self.arrivals = dict(list(self.tables.arrivals.groupby(key)))
        self.questions = [
            question
            for question in itertools.starmap(Question, ledger.questions(claims))
            if any(name == self.algorithm for _, name in question.parameters.needed())
        ]

    def on(self, environment: str) -> list[Combination]:
        return [variant for variant in self.universes if variant.environment == environment]

    def together(self, environments: Sequence[str]) -> list[tuple[Combination, ...]]:
        """Universes of several environments at once, with the same values of what they share."""
        shared = self.scope.settings
        return [
            variants
            for variants in itertools.product(*map(self.on, environments))
            if all(len({repr(each.varied.get(key)) for each in variants}) == 1 for key in shared)
        ]

    def data(self, variants: Sequence[Combination]) -> Data:
        """What the rules see: the runs of these universes in the place of POWR's own."""
        names = [variant.environment for variant in variants]
        keys = [(variant.environment, variant.digest) for variant in variants]
        own = [self.evaluations[key] for key in keys if key in self.evaluations]
        arrived = [self.arrivals[key] for key in keys if key in self.arrivals]
        budgets = {(v.environment, self.algorithm): v.settings["timesteps"] for v in variants}

        def replaced(table: pd.DataFrame, by: Sequence[pd.DataFrame]) -> pd.DataFrame:
            others = table["environment"].isin(names) & (table["algorithm"] != self.algorithm)
            return pd.concat([table[others], *by], ignore_index=True)

        return self.baselines._replace(
            evaluations=replaced(self.baselines.evaluations, own),
            arrivals=replaced(self.baselines.arrivals, arrived),
            budgets={**self.baselines.budgets, **budgets},
        )

    def verdict(self, question: Question, data: Data) -> str:
        outcome = RULES[question.claim["rule"]](data, question.parameters, self.level)
        return ledger.worded(question.claim, outcome.verdict)


def tabulate(multiverse: Multiverse) -> pd.DataFrame:
    """One row per universe, policy and set of baselines; a claim that is about others is empty."""
    table = pd.DataFrame(
        [row for variant in multiverse.universes for row in _rows(multiverse, variant)]
    )
    key, others = table.columns[:4], [name for name in table.columns[4:] if "." not in name]
    return table[[*key, *table.filter(like=SETTING), *others, *table.filter(like=CLAIM)]]


def _rows(multiverse: Multiverse, variant: Combination) -> Iterator[dict[str, Any]]:
    environment, algorithm = variant.environment, variant.algorithm
    data, study = multiverse.data([variant]), multiverse.study
    threshold = study.environments[environment].thresholds[0]
    choices = multiverse.scope.choices_on(environment)
    main = study.algorithms[algorithm].settings_on(environment)
    there = set(multiverse.tables.there)
    asked: dict[tuple[str, str], list[Question]] = {}
    for question in multiverse.questions:
        if environment in question.environments():
            key = (question.parameters.policy, question.against)
            asked.setdefault(key, []).append(question.on(environment))
    for (policy, against), questions in asked.items():

        def times_of(name: str, policy: str = policy) -> np.ndarray:
            return data.times(environment, name, threshold, policy, "first")

        names = {name for each in questions for _, name in each.parameters.needed()}
        medians = {
            name: statistics.censored_median(times)
            for name in sorted(names - {algorithm})
            if len(times := times_of(name))
        }
        best = min(medians, key=lambda name: medians[name], default="")
        best_median = medians.get(best, np.inf)
        times = times_of(algorithm)
        arrived = np.sort(times[np.isfinite(times)])
        interval = statistics.median_interval(times) if len(times) else statistics.NO_INTERVAL
        yield {
            "environment": environment,
            "universe": variant.digest,
            "policy": policy,
            "against": against,
            **{SETTING + key: value_text(value) for key, value in variant.varied.items()},
            # Whether POWR has these settings at the scale of the claims.
            "main": all(
                main.get(key) == variant.varied.get(key) for key in choices if len(choices[key]) > 1
            ),
            "timesteps": variant.settings["timesteps"],
            "threshold": threshold,
            "runs": sum(run in there for run in variant.runs),
            "runs_planned": len(variant.runs),
            "arrived": len(arrived),
            "median": arrivals.median_cell(times) if len(times) else np.nan,
            "median_low": arrivals.as_cell(interval.low),
            "median_high": arrivals.as_cell(interval.high),
            "first_arrivals": " ".join(f"{time:.0f}" for time in arrived),
            "best_baseline": best if np.isfinite(best_median) else "",
            "best_baseline_median": arrivals.as_cell(best_median),
            **{CLAIM + each.claim["id"]: multiverse.verdict(each, data) for each in questions},
        }


def value_text(value: Any) -> str:
    """A setting's value in a table: of a kernel its name, of a flag yes or no."""
    if isinstance(value, dict):
        return str(value["name"])
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}"
