"""Rules on what holds exactly, as printed or not at all."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from powr.tabular import TabularMDP
from suite.claims.rules.finite_models import OnTables
from suite.claims.typed import Positive
from suite.claims.verdicts import Data, Finding, Outcome, Parameters, Rule, graded
from suite.config.models import Count
from suite.theory import counterexamples, operators
from suite.theory.closed_form import closed_form_error


class Exactness(OnTables):
    regularization: Positive
    tolerance: Positive


def closed_form(data: Data, parameters: Exactness, level: float) -> Outcome:
    """Prop. 3 equals exact policy evaluation on finite models."""
    given = {"gamma": parameters.gamma, "regularization": parameters.regularization}
    return _exact(parameters, lambda mdp: closed_form_error(mdp, **given))


def mean_embedding(data: Data, parameters: Exactness, level: float) -> Outcome:
    """Prop. 2: the adjoint sends the features of a pair to the mean of those of the next state."""
    return _exact(parameters, lambda mdp: operators.embedding_error(mdp, parameters.regularization))


class SeparableSpaces(Parameters):
    seeds: Count
    tolerance: Positive


def separable_spaces(data: Data, parameters: SeparableSpaces, level: float) -> Outcome:
    """Prop. 4: averages over a compatible policy lie in F; beside it one that is not compatible."""
    inside, outside = (
        max(operators.distance_to_products(*make(seed), seed) for seed in range(parameters.seeds))
        for make in (operators.compatible_policy, operators.incompatible_policy)
    )
    statistic = "largest relative distance of P g to F"
    return graded(
        [
            Finding("policies in H", statistic, inside, supports=inside <= parameters.tolerance),
            # The check can fail: without its hypothesis the conclusion does not hold.
            Finding(
                "policies outside H", statistic, outside, supports=outside > parameters.tolerance
            ),
        ]
    )


class AsPrinted(Parameters):
    examples: list[Literal[tuple(counterexamples.COUNTEREXAMPLES)]] = Field(  # type: ignore[valid-type]
        min_length=1
    )


def as_printed(data: Data, parameters: AsPrinted, level: float) -> Outcome:
    """A printed inequality holds in its smallest critical cases."""
    findings, repaired = [], True
    for name in parameters.examples:
        case = counterexamples.COUNTEREXAMPLES[name]()
        repaired &= case.left <= case.proven
        statistic = f"{case.what}, to be at most {case.printed:.3g}"
        supports = case.left <= case.printed
        findings.append(Finding(name.replace("_", " "), statistic, case.left, supports=supports))
    return graded(findings, partly=repaired)


RULES: tuple[Rule, ...] = (closed_form, mean_embedding, separable_spaces, as_printed)


def _exact(parameters: Exactness, error_of: Callable[[TabularMDP], float]) -> Outcome:
    """Whether both sides of an equation agree to within the tolerance, model by model."""
    errors = {name: error_of(mdp) for name, mdp in parameters.mdps()}
    return graded(
        [
            Finding(name, "largest relative error", error, supports=error <= parameters.tolerance)
            for name, error in errors.items()
        ]
    )
