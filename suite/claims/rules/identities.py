"""Rules on what holds exactly, as printed or not at all."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from suite.claims.rules.finite_models import OnTables
from suite.claims.typed import Positive
from suite.claims.verdicts import (
    IDENTITY_CHECKED,
    NO_VIOLATION,
    PROOF_REPAIRED,
    REFUTED,
    Data,
    Finding,
    Outcome,
    Parameters,
    Rule,
)
from suite.config.models import Count
from suite.theory import counterexamples, estimation, operators, simulation
from suite.theory.closed_form import closed_form_error


class ClosedForm(OnTables):
    regularization: Positive
    tolerance: Positive


def closed_form(data: Data, parameters: ClosedForm, level: float) -> Outcome:
    """Prop. 3 equals exact policy evaluation on finite models."""
    given = {"gamma": parameters.gamma, "regularization": parameters.regularization}
    findings = [
        _equal(name, closed_form_error(mdp, **given), parameters.tolerance)
        for name, mdp in parameters.mdps()
    ]
    return _identity(findings)


class SimulationIdentity(OnTables):
    sizes: list[Count] = Field(min_length=1)
    seeds: Count
    tolerance: Positive


def simulation_identity(data: Data, parameters: SimulationIdentity, level: float) -> Outcome:
    """Cor. A.7, its sign corrected: the error of the action values from that of the model."""
    findings = []
    for name, mdp in parameters.mdps():
        policy = estimation.uniform_policy(mdp)
        for n in parameters.sizes:
            models = (estimation.tabular_model(mdp, n, seed) for seed in range(parameters.seeds))
            error = max(
                simulation.identity_error(mdp, model, policy, parameters.gamma) for model in models
            )
            findings.append(_equal(f"{name}, {n:,} transitions", error, parameters.tolerance))
    return _identity(findings)


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
    return _identity(findings)


def separable_spaces(data: Data, parameters: OnFeatures, level: float) -> Outcome:
    """Prop. 4: averages over a compatible policy lie in F; beside it one that is not compatible."""
    findings = []
    for name, make, inside in (
        ("policies in H", operators.compatible_policy, True),
        ("policies outside H", operators.incompatible_policy, False),
    ):
        distances = [
            operators.distance_to_products(*make(seed), seed) for seed in range(parameters.seeds)
        ]
        findings.append(_controlled(name, distances, parameters.tolerance, inside))
    return _identity(findings)


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
    repaired = parameters.if_it_fails == PROOF_REPAIRED and mended
    return Outcome(PROOF_REPAIRED if repaired else REFUTED, findings)


RULES: tuple[Rule, ...] = (
    closed_form,
    simulation_identity,
    mean_embedding,
    separable_spaces,
    as_printed,
)


def _equal(subject: str, error: float, tolerance: float) -> Finding:
    return Finding(subject, "largest relative error", error, supports=error <= tolerance)


def _controlled(subject: str, errors: Sequence[float], tolerance: float, inside: bool) -> Finding:
    """The largest error where the hypothesis holds; else the smallest, which should be large."""
    if inside:
        return _equal(subject, max(errors), tolerance)
    statistic = "smallest relative error, without the hypothesis"
    return Finding(subject, statistic, min(errors), supports=min(errors) > tolerance)


def _identity(findings: Sequence[Finding]) -> Outcome:
    agree = all(finding.supports for finding in findings)
    return Outcome(IDENTITY_CHECKED if agree else REFUTED, findings)
