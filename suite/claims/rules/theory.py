"""Rules on theorems: both sides are computed, so they need no runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal

import gymnasium
import numpy as np
from pydantic import Field

from powr.tabular import TabularMDP
from suite.claims.verdicts import (
    IDENTITY_CHECKED,
    NO_VIOLATION,
    OPEN,
    REFUTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
)
from suite.config.models import Block, Count
from suite.theory import compatibility, counterexamples, estimation, inexact_pmd, operators
from suite.theory.closed_form import closed_form_error
from suite.theory.simulation import identity_error

Gamma = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(Block):
    """An environment with a transition table."""

    id: str
    kwargs: dict[str, Any]


class OnTables(Parameters):
    models: list[Table] = Field(min_length=1)
    gamma: Gamma

    def mdps(self) -> Iterator[tuple[str, TabularMDP]]:
        for model in self.models:
            settings = ", ".join(f"{key}={value}" for key, value in model.kwargs.items())
            env = gymnasium.make(model.id, **model.kwargs)
            yield f"{model.id}({settings})", TabularMDP.from_env(env)


def _unless_refuted(verdict: str, findings: Sequence[Finding]) -> Outcome:
    return Outcome(verdict if all(each.supports for each in findings) else REFUTED, findings)


def _equal(subject: str, error: float, tolerance: float) -> Finding:
    return Finding(subject, "largest relative error", error, supports=error <= tolerance)


def _controlled(subject: str, errors: Sequence[float], tolerance: float, inside: bool) -> Finding:
    """The largest error where the hypothesis holds; else the smallest, which should be large."""
    if inside:
        return _equal(subject, max(errors), tolerance)
    statistic = "smallest relative error, without the hypothesis"
    return Finding(subject, statistic, min(errors), supports=min(errors) > tolerance)


class ClosedForm(OnTables):
    regularization: Positive
    tolerance: Positive


def closed_form(data: Data, parameters: ClosedForm, level: float) -> Outcome:
    """Prop. 3 equals exact policy evaluation on finite models."""
    given = parameters.model_dump(include={"gamma", "regularization"})
    findings = [
        _equal(name, closed_form_error(mdp, **given), parameters.tolerance)
        for name, mdp in parameters.mdps()
    ]
    return _unless_refuted(IDENTITY_CHECKED, findings)


class SimulationIdentity(OnTables):
    sizes: list[Count] = Field(min_length=1)
    seeds: Count
    tolerance: Positive


def simulation_identity(data: Data, parameters: SimulationIdentity, level: float) -> Outcome:
    """Cor. A.7, its sign corrected: the error of the action values from that of the model."""
    findings = []
    for (name, mdp), n in product(parameters.mdps(), parameters.sizes):
        policy = estimation.uniform_policy(mdp)
        models = (estimation.tabular_model(mdp, n, seed) for seed in range(parameters.seeds))
        error = max(identity_error(mdp, model, policy, parameters.gamma) for model in models)
        findings.append(_equal(f"{name}, {n:,} transitions", error, parameters.tolerance))
    return _unless_refuted(IDENTITY_CHECKED, findings)


class OnFeatures(Parameters):
    seeds: Count
    tolerance: Positive


def mean_embedding(data: Data, parameters: OnFeatures, level: float) -> Outcome:
    """Prop. 2 where Asm. 1 holds; beside it MDPs where it does not, so the check can fail."""
    findings = []
    for name, make, inside in (
        ("linear MDPs", operators.linear_mdp, True),
        ("other MDPs", operators.nonlinear_mdp, False),
    ):
        errors = [operators.embedding_errors(*make(seed), seed) for seed in range(parameters.seeds)]
        for identity, found in zip(("Eq. (9)", "adjoints"), zip(*errors, strict=True), strict=True):
            subject = f"{name}: {identity}"
            findings.append(_controlled(subject, found, parameters.tolerance, inside))
    return _unless_refuted(IDENTITY_CHECKED, findings)


def separable_spaces(data: Data, parameters: OnFeatures, level: float) -> Outcome:
    """Prop. 4: averages over a compatible policy lie in F; beside it one that is not compatible."""
    findings = []
    for name, make, inside in (
        ("policies in H", operators.compatible_policy, True),
        ("policies outside H", operators.incompatible_policy, False),
    ):
        seeds = range(parameters.seeds)
        distances = [operators.distance_to_products(*make(seed), seed) for seed in seeds]
        findings.append(_controlled(name, distances, parameters.tolerance, inside))
    return _unless_refuted(IDENTITY_CHECKED, findings)


class AsPrinted(Parameters):
    example: Literal[tuple(counterexamples.COUNTEREXAMPLES)]  # type: ignore[valid-type]
    if_it_fails: Literal["refuted", "proof repaired"]  # of a statement, or of a step of a proof


def as_printed(data: Data, parameters: AsPrinted, level: float) -> Outcome:
    """A printed statement, or a step of a proof, in its smallest critical case."""
    case = counterexamples.COUNTEREXAMPLES[parameters.example]()
    findings = [
        Finding(each.what, f"to be at most {each.right:.3g}", each.left, supports=each.holds)
        for each in case
        if each
    ]
    if case.printed.holds:
        return Outcome(NO_VIOLATION, findings)
    mended = case.mended is None or case.mended.holds
    return Outcome(parameters.if_it_fails if mended else REFUTED, findings)


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
    given = parameters.model_dump(include={"step_size", "steps"})

    def ratio(gamma: float, errors: str, actions: int, gap: float, size: float) -> float:
        def error(step: int) -> float:
            return size * gap * ERRORS[errors](step, parameters.steps)

        mdp = inexact_pmd.bandit(actions, gap)
        estimate = inexact_pmd.misled(mdp, gamma, error)
        descent = inexact_pmd.descend(mdp, estimate, gamma=gamma, **given)
        return float((descent.gaps / descent.printed_bounds).max())

    findings = []
    for gamma, errors in product(parameters.gammas, parameters.errors):
        sizes = parameters.sizes if errors != "none" else [0.0]
        cases = product(parameters.actions, parameters.gaps, sizes)
        largest = max(ratio(gamma, errors, *case) for case in cases)
        subject = f"gamma {gamma:g}, error {errors}"
        statistic = "largest gap over its bound"
        findings.append(Finding(subject, statistic, largest, supports=largest <= 1))
    return _unless_refuted(NO_VIOLATION, findings)


class MainResult(OnTables):
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=2, max_length=2)  # few transitions, and many
    seeds: int = Field(ge=2)


def main_result(data: Data, parameters: MainResult, level: float) -> Outcome:
    """Thm. 9 on tables. Elsewhere its proof is incomplete, so numbers can at best leave it open."""
    given = parameters.model_dump(include={"gamma", "step_size", "steps"})
    few, many = parameters.sizes

    def last_gap(mdp: TabularMDP, n: int, seed: int) -> float:
        model = estimation.tabular_model(mdp, n, seed)
        estimate = inexact_pmd.modelled(model, parameters.gamma)
        return float(inexact_pmd.descend(mdp, estimate, **given).gaps[-1])

    findings = []
    for name, mdp in parameters.mdps():
        few_gaps, many_gaps = (
            estimation.mean_estimate([last_gap(mdp, n, seed) for seed in range(parameters.seeds)])
            for n in parameters.sizes
        )
        low, high = few_gaps.interval.low, many_gaps.interval.high
        # Noise widens both intervals, so it cannot make the growth small.
        growth = high / low * (many / few) ** estimation.TABULAR_RATE if low > 0 else np.inf
        statistic = f"growth of the last gap times n^{estimation.TABULAR_RATE:g}, at most, "
        statistic += f"from {few:,} to {many:,} transitions"
        findings.append(Finding(name, statistic, growth, supports=growth <= 1))
    return _unless_refuted(OPEN, findings)


class EstimationRate(OnTables):
    sizes: list[Count] = Field(min_length=2)
    seeds: int = Field(ge=2)


def estimation_rate(data: Data, parameters: EstimationRate, level: float) -> Outcome:
    """Prop. C.2: the error falls with n no more slowly than guaranteed, by the whole interval."""
    gamma, sizes = parameters.gamma, np.array(parameters.sizes)
    measures = [
        (name, partial(estimation.tabular_error, mdp, gamma), estimation.TABULAR_RATE)
        for name, mdp in parameters.mdps()
    ]
    continuous = partial(estimation.continuous_error, gamma)
    measures.append(("a continuous MDP", continuous, estimation.CONTINUOUS_RATE))
    findings = []
    for name, measure, rate in measures:
        errors = [[measure(int(n), seed) for n in sizes] for seed in range(parameters.seeds)]
        fitted = estimation.fitted_exponent(sizes, np.array(errors))
        statistic = f"fitted exponent, to be at least {rate:g}"
        supports = fitted.interval.low >= rate
        findings.append(Finding(name, statistic, *fitted, supports=supports))
    return _unless_refuted(NO_VIOLATION, findings)


class SobolevMembership(Parameters):
    gamma: Gamma
    bandwidth: Positive
    regularization: Positive
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=1)
    seeds: Count
    settles: Positive  # growth of the squared norm of a function in the space, at most
    diverges: Positive  # and of one outside, at least


def sobolev_membership(data: Data, parameters: SobolevMembership, level: float) -> Outcome:
    """Cor. 6 on a line: the norm of a policy settles as the grid is refined, a jump's does not."""
    given = parameters.model_dump(include=set(compatibility.Setting._fields))
    setting = compatibility.Setting(**given)
    statistic = "growth of the squared norm on a grid four times as fine"
    findings = []
    for n in parameters.sizes:
        growths = [
            compatibility.norm_growth(parameters.bandwidth, n, seed, setting)
            for seed in range(parameters.seeds)
        ]
        largest = max(growth.policy for growth in growths)
        supports = largest <= parameters.settles
        subject = f"{n} transitions, policy of Algorithm 1, largest"
        findings.append(Finding(subject, statistic, largest, supports=supports))
        # The check can fail: the greedy policy of the same action values is not in the space.
        smallest = min(growth.greedy for growth in growths)
        supports = smallest >= parameters.diverges
        subject = f"{n} transitions, greedy policy, smallest"
        findings.append(Finding(subject, statistic, smallest, supports=supports))
    return _unless_refuted(NO_VIOLATION, findings)


RULES: tuple[Rule, ...] = (
    closed_form,
    simulation_identity,
    mean_embedding,
    separable_spaces,
    as_printed,
    descent_bound,
    main_result,
    estimation_rate,
    sobolev_membership,
)
