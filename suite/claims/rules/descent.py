"""Rules on the convergence of mirror descent: with exact, misled and estimated action values."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from pydantic import Field

from powr.tabular import TabularMDP
from suite.claims.rules.finite_models import OnTables, WithRandomModels
from suite.claims.typed import Positive
from suite.claims.verdicts import Data, Finding, Outcome, Rule, graded
from suite.config.models import Count
from suite.theory import estimation, inexact_pmd
from suite.theory.closed_form import model_of_table
from suite.theory.inexact_pmd import Descent, Estimator, modelled

GAP_OVER_BOUND = "largest gap over its bound"


class Descending(OnTables):
    step_size: Positive
    steps: Count

    def descend(self, mdp: TabularMDP, estimate: Estimator) -> Descent:
        return inexact_pmd.descend(
            mdp, estimate, gamma=self.gamma, step_size=self.step_size, steps=self.steps
        )


class Convergence(Descending):
    regularization: Positive
    steps: int = Field(ge=20)


def convergence(data: Data, parameters: Convergence, level: float) -> Outcome:
    """Mirror descent in the world model keeps the bound of Thm. 7 and its rate 1/T."""
    findings, bounded = [], []
    for name, mdp in parameters.mdps():
        model = model_of_table(mdp, parameters.regularization)
        descent = parameters.descend(mdp, modelled(model, parameters.gamma))
        bounded.append(bool((descent.gaps <= descent.printed_bounds).all()))
        statistic = "slope of log gap over log steps, the gap "
        statistic += "below its bound" if bounded[-1] else "ABOVE ITS BOUND"
        supports = bounded[-1] and descent.rate <= -1
        findings.append(Finding(name, statistic, descent.rate, supports=supports))
    return graded(findings, partly=all(bounded))


class InexactConvergence(Descending, WithRandomModels):
    error: Positive
    steps: int = Field(ge=100)


def inexact_convergence(data: Data, parameters: InexactConvergence, level: float) -> Outcome:
    """Thm. 7 with errors against the optimal actions: its bound, and log T / T where they fall."""
    gamma, findings = parameters.gamma, []
    for name, mdp in parameters.mdps():
        largest = parameters.error * np.abs(mdp.optimal_action_values(gamma)).max()
        for kind, power in (("fixed", 0), ("falling", 1)):
            error = partial(_error, largest, power)
            descent = parameters.descend(mdp, inexact_pmd.misled(mdp, gamma, error))
            subject = f"{name}: {kind} error"
            findings.append(_within_bounds(subject, [descent]))
            if kind == "falling":
                findings.append(_decay(subject, descent.gaps))
    return _graded(findings)


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


class MainResult(Descending, WithRandomModels):
    sizes: list[Count] = Field(min_length=2)
    seeds: Count


def main_result(data: Data, parameters: MainResult, level: float) -> Outcome:
    """Thm. 9: what Algorithm 1 lacks to the optimum in the world model of n transitions."""
    findings = []
    for name, mdp in parameters.mdps():
        descents, lacking = [], {}
        for n in parameters.sizes:
            models = (estimation.tabular_model(mdp, n, seed) for seed in range(parameters.seeds))
            of = [parameters.descend(mdp, modelled(model, parameters.gamma)) for model in models]
            lacking[n] = float(np.mean([each.gaps[-1] for each in of]))
            descents += of
        findings += [_within_bounds(name, descents), _fall_with_data(name, lacking)]
    return _graded(findings)


def _within_bounds(subject: str, descents: Sequence[Descent]) -> Finding:
    ratio = max(float((each.gaps / each.printed_bounds).max()) for each in descents)
    return Finding(subject, GAP_OVER_BOUND, ratio, supports=ratio <= 1)


def _graded(findings: Sequence[Finding]) -> Outcome:
    """Partly where the bounds hold and no more."""
    bounded = all(each.supports for each in findings if each.statistic == GAP_OVER_BOUND)
    return graded(findings, partly=bounded)


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
