"""Rules on the convergence of mirror descent: with exact, misled and estimated action values."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from pydantic import Field

from powr.tabular import TabularMDP
from suite.claims.rules.finite_models import (
    OnTables,
    WithRandomModels,
    models_of,
    random_models_of,
)
from suite.claims.typed import Positive
from suite.claims.verdicts import Data, Finding, Outcome, Rule, graded
from suite.config.models import Count
from suite.theory import estimation, inexact_pmd
from suite.theory.closed_form import model_of_table

GAP_OVER_BOUND = "largest gap over its bound"


class Convergence(OnTables):
    regularization: Positive
    step_size: Positive
    steps: int = Field(ge=20)


def convergence(data: Data, parameters: Convergence, level: float) -> Outcome:
    """Mirror descent in the world model keeps the bound of Thm. 7 and its rate 1/T."""
    findings, bounded = [], []
    for name, mdp in models_of(parameters):
        gamma, model = parameters.gamma, model_of_table(mdp, parameters.regularization)
        descent = inexact_pmd.descend(
            mdp,
            inexact_pmd.modelled(model, gamma),
            gamma=gamma,
            step_size=parameters.step_size,
            steps=parameters.steps,
        )
        bounded.append(bool((descent.gaps <= descent.printed_bounds).all()))
        statistic = "slope of log gap over log steps, the gap "
        statistic += "below its bound" if bounded[-1] else "ABOVE ITS BOUND"
        supports = bounded[-1] and descent.rate <= -1
        findings.append(Finding(name, statistic, descent.rate, supports=supports))
    return graded(findings, partly=all(bounded))


class InexactConvergence(WithRandomModels):
    error: Positive
    step_size: Positive
    steps: int = Field(ge=100)


def inexact_convergence(data: Data, parameters: InexactConvergence, level: float) -> Outcome:
    """Thm. 7 with errors against the optimal actions: its bound, and log T / T where they fall."""
    gamma, steps = parameters.gamma, parameters.steps
    findings = []
    for name, mdp in [*models_of(parameters), *random_models_of(parameters)]:
        largest = parameters.error * np.abs(mdp.optimal_action_values(gamma)).max()
        for kind, power in (("fixed", 0), ("falling", 1)):
            descent = inexact_pmd.descend(
                mdp,
                inexact_pmd.misled(mdp, gamma, partial(_error, largest, power)),
                gamma=gamma,
                step_size=parameters.step_size,
                steps=steps,
            )
            ratio = float((descent.gaps / descent.printed_bounds).max())
            subject = f"{name}: {kind} error"
            findings.append(Finding(subject, GAP_OVER_BOUND, ratio, supports=ratio <= 1))
            if kind == "falling":
                findings.append(_decay(subject, descent.gaps))
    bounded = all(each.supports for each in findings if each.statistic == GAP_OVER_BOUND)
    return graded(findings, partly=bounded)


def _error(largest: float, power: int, step: int) -> float:
    return largest / (step + 1) ** power


def _decay(subject: str, gaps: np.ndarray) -> Finding:
    """gap T / log T at the end over the same at a tenth of the steps; 0 for a gap of rounding."""
    late, early = len(gaps), len(gaps) // 10
    growth = 0.0
    if gaps[-1] > inexact_pmd.ROUNDING * gaps[0]:
        growth = float(gaps[late - 1] / gaps[early - 1] * 10 * np.log(early) / np.log(late))
    statistic = "growth of gap T / log T over the last decade"
    return Finding(subject, statistic, growth, supports=growth <= 1)


class MainResult(WithRandomModels):
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=2)
    seeds: Count


def main_result(data: Data, parameters: MainResult, level: float) -> Outcome:
    """Thm. 9: what Algorithm 1 lacks to the optimum in the world model of n transitions."""
    findings = []
    for name, mdp in [*models_of(parameters), *random_models_of(parameters)]:
        descents = {
            n: [_descend_in_estimate(mdp, parameters, n, seed) for seed in range(parameters.seeds)]
            for n in parameters.sizes
        }
        ratio = max(
            float((each.gaps / each.printed_bounds).max())
            for of in descents.values()
            for each in of
        )
        findings.append(Finding(name, GAP_OVER_BOUND, ratio, supports=ratio <= 1))
        lacking = {n: float(np.mean([each.gaps[-1] for each in of])) for n, of in descents.items()}
        findings.append(_fall_with_data(name, lacking))
    bounded = all(each.supports for each in findings if each.statistic == GAP_OVER_BOUND)
    return graded(findings, partly=bounded)


def _descend_in_estimate(
    mdp: TabularMDP, parameters: MainResult, n: int, seed: int
) -> inexact_pmd.Descent:
    return inexact_pmd.descend(
        mdp,
        inexact_pmd.modelled(estimation.tabular_model(mdp, n, seed), parameters.gamma),
        gamma=parameters.gamma,
        step_size=parameters.step_size,
        steps=parameters.steps,
    )


def _fall_with_data(name: str, lacking: Mapping[int, float]) -> Finding:
    """gap n^alpha with the most transitions over the same with the fewest, at the rate alpha."""
    fewest, most = min(lacking), max(lacking)
    growth = 0.0
    if lacking[most] > inexact_pmd.ROUNDING:
        growth = lacking[most] / lacking[fewest] * (most / fewest) ** estimation.TABULAR_RATE
    statistic = f"growth of the last gap times n^{estimation.TABULAR_RATE:g}, "
    statistic += f"from {fewest:,} to {most:,} transitions"
    return Finding(name, statistic, growth, supports=growth <= 1)


RULES: tuple[Rule, ...] = (convergence, inexact_convergence, main_result)
