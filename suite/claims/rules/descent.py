"""Rules on the convergence of mirror descent: with inexact and with estimated action values."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
from pydantic import Field
from scipy import stats

from powr.tabular import TabularMDP
from suite.claims.rules.finite_models import OnTables
from suite.claims.typed import Gamma, Positive
from suite.claims.verdicts import (
    NO_VIOLATION,
    OPEN,
    REFUTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
)
from suite.config.models import Count
from suite.theory import estimation, inexact_pmd

# Kinds of errors, by the step and the number of steps, as factors of their size.
ERRORS: Mapping[str, Callable[[int, int], float]] = {
    "none": lambda step, steps: 0.0,
    "fixed": lambda step, steps: 1.0,
    "fixed but for the last": lambda step, steps: float(step < steps),
    "falling like 1/t": lambda step, steps: 1 / (step + 1),
}


class DescentBound(Parameters):
    gammas: list[Gamma] = Field(min_length=1)
    actions: list[Count] = Field(min_length=1)
    gaps: list[Positive] = Field(min_length=1)  # between the best action and the others
    errors: list[Literal[tuple(ERRORS)]] = Field(min_length=1)  # type: ignore[valid-type]
    sizes: list[Positive] = Field(min_length=1)  # of the errors, in units of the gap
    step_size: Positive
    steps: Count


def descent_bound(data: Data, parameters: DescentBound, level: float) -> Outcome:
    """Thm. 7 with the constants of its proof, on bandits where the bound is close."""
    findings = []
    for gamma, errors in product(parameters.gammas, parameters.errors):
        sizes = parameters.sizes if errors != "none" else [0.0]
        cases = product(parameters.actions, parameters.gaps, sizes)
        ratio = max(_gap_over_bound(parameters, gamma, errors, *case) for case in cases)
        subject = f"gamma {gamma:g}, error {errors}"
        findings.append(Finding(subject, "largest gap over its bound", ratio, supports=ratio <= 1))
    return Outcome(NO_VIOLATION if all(each.supports for each in findings) else REFUTED, findings)


def _gap_over_bound(
    parameters: DescentBound, gamma: float, errors: str, actions: int, gap: float, size: float
) -> float:
    mdp = inexact_pmd.bandit(actions, gap)
    steps = parameters.steps
    estimate = inexact_pmd.misled(mdp, gamma, lambda t: size * gap * ERRORS[errors](t, steps))
    descent = inexact_pmd.descend(
        mdp, estimate, gamma=gamma, step_size=parameters.step_size, steps=steps
    )
    return float((descent.gaps / descent.printed_bounds).max())


class MainResult(OnTables):
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=2, max_length=2)  # few transitions, and many
    seeds: int = Field(ge=2)


def main_result(data: Data, parameters: MainResult, level: float) -> Outcome:
    """Thm. 9 on tables. Elsewhere its proof is incomplete, so numbers can at best leave it open."""
    findings = []
    for name, mdp in parameters.mdps():
        last_gap = partial(_last_gap, parameters, mdp)
        few, many = parameters.sizes
        (low, _), (_, high) = (
            _mean_interval([last_gap(n, seed) for seed in range(parameters.seeds)])
            for n in parameters.sizes
        )
        # At most 1 whatever the noise, which widens both intervals.
        growth = high / low * (many / few) ** estimation.TABULAR_RATE if low > 0 else np.inf
        statistic = f"growth of the last gap times n^{estimation.TABULAR_RATE:g}, at most, "
        statistic += f"from {few:,} to {many:,} transitions"
        findings.append(Finding(name, statistic, growth, supports=growth <= 1))
    return Outcome(OPEN if all(each.supports for each in findings) else REFUTED, findings)


def _last_gap(parameters: MainResult, mdp: TabularMDP, n: int, seed: int) -> float:
    model = estimation.tabular_model(mdp, n, seed)
    estimate = inexact_pmd.modelled(model, parameters.gamma)
    descent = inexact_pmd.descend(
        mdp,
        estimate,
        gamma=parameters.gamma,
        step_size=parameters.step_size,
        steps=parameters.steps,
    )
    return float(descent.gaps[-1])


def _mean_interval(values: list[float]) -> tuple[float, float]:
    """95% t interval of the mean."""
    return stats.t.interval(
        0.95, len(values) - 1, loc=np.mean(values), scale=max(stats.sem(values), 1e-300)
    )


RULES: tuple[Rule, ...] = (descent_bound, main_result)
